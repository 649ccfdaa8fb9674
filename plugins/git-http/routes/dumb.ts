import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { answer, notFound, type RawRoute, rawRoute } from '#core/http'
import { gitAccess } from '../access.ts'
import type { GitHttpUse } from '../needs.ts'
import { common, neverCached } from '../protocol.ts'

const forEver = { 'cache-control': 'public, max-age=31536000' }

/** The files that a client of the old, "dumb" protocol may ask for, by their paths in a bare repository. */
const shapes = [
  { is: /^[0-9a-f]{2}\/[0-9a-f]{38}(?:[0-9a-f]{24})?$/, type: 'application/x-git-loose-object' },
  { is: /^pack\/pack-[0-9a-f]{40}(?:[0-9a-f]{24})?\.pack$/, type: 'application/x-git-packed-objects' },
  { is: /^pack\/pack-[0-9a-f]{40}(?:[0-9a-f]{24})?\.idx$/, type: 'application/x-git-packed-objects-toc' },
]

/** Plain files, for clients that cannot talk to git. */
export function dumbRoutes(use: GitHttpUse): RawRoute[] {
  const fetch = gitAccess(use, () => 'fetch')
  return [
    rawRoute({
      ...common,
      method: 'GET',
      path: '/{owner}/{repo}/HEAD',
      access: fetch,
      handle: ({ repo }) =>
        answer(200, `ref: refs/heads/${repo.repo.default_branch}\n`, { ...neverCached, 'content-type': 'text/plain' }),
    }),
    rawRoute({
      ...common,
      method: 'GET',
      path: '/{owner}/{repo}/objects/{path+}',
      access: fetch,
      async handle({ repo, params }) {
        const folder = join(use.repos.gitDir(repo.repo), 'objects')
        const path = params.path ?? ''
        if (path === 'info/packs')
          return answer(200, await packList(folder), { ...neverCached, 'content-type': 'text/plain' })
        const shape = shapes.find(({ is }) => is.test(path))
        const file = join(folder, path)
        const found = shape && (await stat(file).catch(() => undefined))
        if (!shape || !found?.isFile()) throw notFound()
        const headers = { ...forEver, 'content-type': shape.type, 'content-length': String(found.size) }
        return answer(200, createReadStream(file), headers)
      },
    }),
  ]
}

async function packList(folder: string): Promise<string> {
  const names = await readdir(join(folder, 'pack')).catch(() => [])
  const packs = names.filter((name) => name.endsWith('.pack'))
  return `${packs.map((name) => `P ${name}\n`).join('')}\n`
}
