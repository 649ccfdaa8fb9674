import { Bytes, notFound, type RawRoute, type Route, rawRoute, route, Type } from '#core/http'
import type { git } from '#core/repos'
import { gitDataConfig } from '../config.ts'
import type { GitDataUse } from '../needs.ts'
import { archiveOf, packed } from '../service/archives.ts'
import { about, inRepo, linksOf, reading } from './in-repository.ts'

const query = Type.Object({
  path: Type.Optional(
    Type.Array(Type.String(), { comma: false, description: 'Only this file or folder; may be repeated.' }),
  ),
})

/** Short forms that name the format first. */
const named = [
  ['tarball', 'tar.gz'],
  ['zipball', 'zip'],
  ['bundle', 'bundle'],
] as const satisfies readonly (readonly [string, git.ArchiveFormat])[]

/** Archives of what a ref names. */
export function archiveRoutes(use: GitDataUse): Route[] {
  return [
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/archive/{archive+}',
      operationId: 'repoGetArchive',
      summary: 'Downloads a branch, tag or commit as an archive.',
      access: reading,
      params: Type.Object({
        ...inRepo,
        archive: Type.String({ description: 'The ref and an ending: .zip, .tar.gz or .bundle.' }),
      }),
      query,
      answers: { 200: Bytes },
      refusals: [400, 404],
      handle: (call) =>
        packed(use, call.repo, linksOf(use, call), { ...archiveOf(call.params.archive), paths: call.query.path ?? [] }),
    }),
    ...named.map(([name, format]) =>
      route({
        ...about,
        method: 'GET',
        path: `/repos/{owner}/{repo}/${name}/{ref+}`,
        operationId: `repoGet${name[0]?.toUpperCase()}${name.slice(1)}`,
        summary: `Downloads a branch, tag or commit as .${format}.`,
        hidden: true,
        access: reading,
        params: Type.Object({ ...inRepo, ref: Type.String({ description: 'Branch, tag or commit.' }) }),
        query,
        answers: { 200: Bytes },
        refusals: [400, 404],
        handle: (call) =>
          packed(use, call.repo, linksOf(use, call), { ref: call.params.ref, format, paths: call.query.path ?? [] }),
      }),
    ),
  ]
}

/** The addresses of archives that pages and tag records show. */
export function archivePages(use: GitDataUse): RawRoute[] {
  return [
    rawRoute({
      method: 'GET',
      path: '/{owner}/{repo}/archive/{archive+}',
      access: reading,
      scope: ['repository'],
      handle(call) {
        if (use.config.get('repository', gitDataConfig.repository).DISABLE_DOWNLOAD_SOURCE_ARCHIVES) throw notFound()
        const { path } = call.query
        const paths = path === undefined ? [] : [path].flat()
        return packed(use, call.repo, linksOf(use, call), { ...archiveOf(call.params.archive ?? ''), paths })
      },
    }),
  ]
}
