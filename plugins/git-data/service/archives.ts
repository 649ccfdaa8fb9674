import { answer, badRequest, notFound } from '#core/http'
import { git, type RepoAccess } from '#core/repos'
import { gitDataConfig } from '../config.ts'
import type { RepoLinks } from '../links.ts'
import type { GitDataUse } from '../needs.ts'

const formats: readonly git.ArchiveFormat[] = ['zip', 'tar.gz', 'bundle']

export type Wanted = { readonly ref: string; readonly format: git.ArchiveFormat; readonly paths?: readonly string[] }

/** `v1.0.tar.gz` → its parts. @throws Problem 400 for other endings */
export function archiveOf(file: string): { ref: string; format: git.ArchiveFormat } {
  const format = formats.find((ending) => file.endsWith(`.${ending}`))
  if (!format) throw badRequest(`unknown format: ${file}`)
  return { ref: file.slice(0, -format.length - 1), format }
}

/** Packs what a ref names; the answer streams while git packs. */
export async function packed(
  use: GitDataUse,
  access: RepoAccess,
  links: RepoLinks,
  { ref, format, paths = [] }: Wanted,
) {
  const repo = use.repos.open(access.repo)
  const found = await git.resolveRevision(repo, ref)
  if (!found) throw notFound(`unrecognized repository reference: ${ref}`)
  if (format === 'bundle' && paths.length > 0) throw badRequest('cannot specify paths when requesting a bundle')
  for (const path of paths) {
    if (!(await git.findEntry(repo, found.commitId, path))) throw badRequest("path doesn't exist or is invalid")
  }
  const inFolder = use.config.get('repository', gitDataConfig.repository).PREFIX_ARCHIVE_FILES
  const prefix = inFolder ? access.repo.lower_name : ''
  const stream = await git.streamArchive(repo, found.commitId, format, { prefix, paths })
  return answer(200, stream, {
    'content-type': 'application/octet-stream',
    'content-disposition': attachment(`${access.repo.name}-${ref.replaceAll('/', '-')}.${format}`),
    'access-control-expose-headers': 'Content-Disposition',
    link: `<${links.api}/archive/${found.commitId}.${format}?rev=${found.commitId}>; rel="immutable"`,
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
  })
}

/** Names with other than plain characters are given twice, as browsers want it. */
function attachment(name: string): string {
  if (/^[\w.+-]+$/.test(name)) return `attachment; filename=${name}`
  const plain = name.replace(/[^\w.+-]/g, '_')
  const escaped = encodeURIComponent(name).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${escaped}`
}
