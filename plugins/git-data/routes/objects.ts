import { answer, badRequest, httpConfig, notFound, type Route, route, Type } from '#core/http'
import { git } from '#core/repos'
import { commitUser, unknownTime } from '../commit-parts.ts'
import type { GitDataUse } from '../needs.ts'
import { refRecord } from '../presenters.ts'
import { AnnotatedTag, GitBlobResponse, GitTreeResponse, Reference } from '../schemas.ts'
import { createCommits } from '../service/commits.ts'
import { about, InRepo, inRepo, linksOf, reading } from './in-repository.ts'

const InObject = (description: string) => Type.Object({ ...inRepo, sha: Type.String({ description }) })
const nobody = { name: '', email: '', date: unknownTime }

/** A full object id, or 400. */
function objectId(text: string): string {
  if (text.length !== 40 && text.length !== 64) {
    throw badRequest(`length ${text.length} has no matched object format: ${text}`)
  }
  const id = text.toLowerCase()
  if (!git.isObjectId(id)) throw badRequest(`invalid object id: ${text}`)
  return id
}
const missing = (id: string) => badRequest(`object does not exist [id: ${id}, rel_path: ]`)

/** The commit or tree that a text names. */
async function treeNamed(repo: git.GitRepo, text: string): Promise<string | undefined> {
  const commit = await git.resolveRevision(repo, text)
  if (commit) return commit.commitId
  if (!/^[0-9a-fA-F]{4,64}$/.test(text)) return undefined
  const info = await repo.objects.info(text.toLowerCase())
  return info?.type === 'tree' && info.id.startsWith(text.toLowerCase()) ? info.id : undefined
}

/** What a blob says when it stands for an LFS object. */
function lfsPointer(data: Buffer): { lfs_oid: string; lfs_size: number } | undefined {
  if (data.length > 1024) return undefined
  const text = data.toString('utf8')
  if (!text.startsWith('version https://git-lfs.github.com/spec/v1\n')) return undefined
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1]
  const size = Number(/^size (\d{1,15})$/m.exec(text)?.[1] ?? Number.NaN)
  return oid !== undefined && Number.isSafeInteger(size) ? { lfs_oid: oid, lfs_size: size } : undefined
}

/** Refs, trees, blobs and tags as git keeps them. */
export function objectRoutes(use: GitDataUse): Route[] {
  const commits = createCommits(use)
  const api = () => use.config.get('api', httpConfig.api)

  const refs = async (call: Parameters<typeof linksOf>[1], prefix: string) => {
    const found = await git.listRefs(use.repos.open(call.repo.repo), { prefixes: [`refs/${prefix}`] })
    if (found.length === 0) throw notFound()
    const links = linksOf(use, call)
    return found.map((ref) => refRecord(links, ref))
  }

  return [
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/git/refs',
      operationId: 'repoListAllGitRefs',
      summary: 'Lists all refs of a repository.',
      access: reading,
      params: InRepo,
      answers: { 200: Type.Array(Reference) },
      handle: (call) => refs(call, ''),
    }),
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/git/refs/{ref+}',
      operationId: 'repoListGitRefs',
      summary: 'Lists the refs whose names begin so.',
      access: reading,
      params: Type.Object({ ...inRepo, ref: Type.String({ description: 'Beginning of the name, without refs/.' }) }),
      answers: { 200: Type.Array(Reference) },
      handle: (call) => refs(call, call.params.ref),
    }),
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/git/trees/{sha}',
      operationId: 'GetTree',
      summary: 'Lists the entries of a tree, page by page.',
      access: reading,
      params: InObject('Tree, commit, branch or tag.'),
      query: Type.Object({
        recursive: Type.Optional(Type.Boolean({ description: 'Includes what is in folders.' })),
        page: Type.Optional(Type.Integer({ description: 'Page, from 1.' })),
        per_page: Type.Optional(Type.Integer({ description: 'Entries on a page.' })),
      }),
      answers: { 200: GitTreeResponse },
      refusals: [400],
      async handle(call) {
        const open = use.repos.open(call.repo.repo)
        const id = await treeNamed(open, call.params.sha)
        if (!id) throw badRequest(`sha not found [${call.params.sha}]`)
        const { recursive } = call.query
        const most = api().DEFAULT_GIT_TREES_PER_PAGE
        const asked = call.query.per_page ?? 0
        const limit = asked > 0 ? Math.min(asked, most) : most
        const page = Math.max(1, Math.min(call.query.page ?? 1, 2 ** 31))
        const { entries, total } = await git.listTree(open, id, { recursive, skip: (page - 1) * limit, limit })
        const links = linksOf(use, call)
        const tree = entries.map(({ path, mode, type, size, id: sha }) => {
          const kind = type === 'dir' ? 'tree' : type === 'submodule' ? 'commit' : 'blob'
          return { path, mode, type: kind, size, sha, url: kind === 'commit' ? '' : `${links.api}/git/${kind}s/${sha}` }
        })
        const body = {
          sha: id,
          url: `${links.api}/git/trees/${id}`,
          tree: tree.length > 0 ? tree : null,
          truncated: page * limit < total,
          page,
          total_count: total,
        }
        return answer(200, body, { 'x-total-count': String(total), 'access-control-expose-headers': 'X-Total-Count' })
      },
    }),
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/git/blobs/{sha}',
      operationId: 'GetBlob',
      summary: 'Shows a blob.',
      access: reading,
      params: InObject('Id of the blob.'),
      answers: { 200: GitBlobResponse },
      refusals: [400],
      async handle(call) {
        const open = use.repos.open(call.repo.repo)
        const id = objectId(call.params.sha)
        const info = await git.blobInfo(open, id)
        if (!info) throw missing(id)
        const most = api().DEFAULT_MAX_BLOB_SIZE
        const data = info.size <= most ? await git.readBlob(open, id, most) : undefined
        return {
          content: data?.toString('base64') ?? null,
          encoding: data ? 'base64' : null,
          url: `${linksOf(use, call).api}/git/blobs/${info.id}`,
          sha: info.id,
          size: info.size,
          ...(data && lfsPointer(data)),
        }
      },
    }),
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/git/tags/{sha}',
      operationId: 'GetAnnotatedTag',
      summary: 'Shows the object of an annotated tag.',
      access: reading,
      params: InObject('Id of the tag object; a tag without one has none.'),
      answers: { 200: AnnotatedTag },
      refusals: [400],
      async handle(call) {
        const id = objectId(call.params.sha)
        const tag = await git.readTag(use.repos.open(call.repo.repo), id)
        if (!tag) throw missing(id)
        const { api: root } = linksOf(use, call)
        return {
          tag: tag.name,
          sha: tag.id,
          url: `${root}/git/tags/${tag.id}`,
          message: tag.message,
          tagger: tag.tagger ? commitUser(tag.tagger) : nobody,
          object: { type: tag.object_type, url: `${root}/git/${tag.object_type}s/${tag.object}`, sha: tag.object },
          verification: (await commits.verify([tag]))[0],
        }
      },
    }),
  ]
}
