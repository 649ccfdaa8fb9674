import { badRequest, nullable, type Route, repository, route, Type } from '#core/http'
import { git } from '#core/repos'
import type { ContentsUse } from '../needs.ts'
import { presentEntries, type View, type Wants } from '../presenters.ts'
import { apiSettings, readPath, viewOf } from '../reading.ts'
import { cleanPath } from '../refs.ts'
import { ContentsExtResponse, ContentsResponse, GetFilesOptions } from '../schemas.ts'

const owner = Type.String({ description: 'Name of the owner.' })
const repo = Type.String({ description: 'Name of the repository.' })
export const InPath = Type.Object({ owner, repo })
export const FileInPath = Type.Object({ owner, repo, filepath: Type.String({ description: 'Path of the file.' }) })
export const ref = Type.Optional(
  Type.String({ description: 'A branch, a tag or the full id of a commit; the default branch, unless given.' }),
)
const AtRef = Type.Object({ ref })
const includes = Type.Optional(
  Type.String({ description: 'Any of file_content, lfs_metadata, commit_metadata, commit_message, with commas.' }),
)

const usual = { content: true, lfs: true, commit: true } satisfies Wants
const usually = { file: usual, folder: { commit: true } }

/** Files and folders as records. */
export function readRoutes(use: ContentsUse): Route[] {
  return [...contentsRoutes(use), ...extendedRoutes(use), ...severalRoutes(use)]
}

function contentsRoutes(use: ContentsUse): Route[] {
  const common = { method: 'GET', tag: 'repository', access: repository.read('code'), scope: ['repository'] } as const
  return [
    route({
      ...common,
      path: '/repos/{owner}/{repo}/contents',
      operationId: 'repoGetContentsList',
      summary: 'Lists what the top folder of a repository holds.',
      params: InPath,
      query: AtRef,
      answers: { 200: Type.Array(ContentsResponse) },
      handle: async (call) => (await readPath(await viewOf(use, call, call.query.ref), '', usually)).files,
    }),
    route({
      ...common,
      path: '/repos/{owner}/{repo}/contents/{filepath+}',
      operationId: 'repoGetContents',
      summary: 'Reads a file with its content, or lists what a folder holds.',
      params: FileInPath,
      query: AtRef,
      answers: { 200: Type.Union([ContentsResponse, Type.Array(ContentsResponse)]) },
      handle: async (call) => {
        const found = await readPath(await viewOf(use, call, call.query.ref), call.params.filepath, usually)
        return found.file ?? found.files
      },
    }),
  ]
}

/** What `includes` asks for. 400 for a word that is none of them. */
function wantsOf(text: string | undefined): Wants {
  const words = new Set((text ?? '').split(',').filter((word) => word !== ''))
  const take = (word: string) => words.delete(word)
  const wants = {
    content: take('file_content'),
    lfs: take('lfs_metadata'),
    commit: take('commit_metadata'),
    message: take('commit_message'),
  }
  for (const word of words) throw badRequest(`unknown include option "${word}"`)
  return wants
}

function extendedRoutes(use: ContentsUse): Route[] {
  const common = {
    method: 'GET',
    tag: 'repository',
    access: repository.read('code'),
    scope: ['repository'],
    query: Type.Object({ ref, includes }),
    answers: { 200: ContentsExtResponse },
    refusals: [400],
  } as const
  const read = async (
    call: Parameters<typeof viewOf>[1] & { query: { ref?: string; includes?: string } },
    path: string,
  ) => {
    const wants = wantsOf(call.query.includes)
    const { file, files } = await readPath(await viewOf(use, call, call.query.ref), path, {
      file: wants,
      folder: { ...wants, content: false },
    })
    return file ? { file_contents: file } : { dir_contents: files }
  }
  return [
    route({
      ...common,
      path: '/repos/{owner}/{repo}/contents-ext',
      operationId: 'repoGetContentsExtRoot',
      summary: 'Lists the top folder with chosen details.',
      hidden: true,
      params: InPath,
      handle: (call) => read(call, ''),
    }),
    route({
      ...common,
      path: '/repos/{owner}/{repo}/contents-ext/{filepath+}',
      operationId: 'repoGetContentsExt',
      summary: 'Reads a file or folder with chosen details.',
      params: FileInPath,
      handle: (call) => read(call, call.params.filepath),
    }),
  ]
}

/** The paths that a query carries as JSON. 400 for anything else. */
function filesInQuery(body: string | undefined): string[] {
  try {
    const { files = [] } = JSON.parse(body ?? '') as { files?: unknown }
    if (Array.isArray(files) && files.every((file) => typeof file === 'string')) return files
  } catch (error) {
    // Not JSON, or null: refused below like everything else that is no list of paths.
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
  }
  throw badRequest('invalid body parameter')
}

/** Records of several paths in their order, null for what is not there; what exceeds the limits is left out. */
async function readSeveral(use: ContentsUse, view: View, paths: readonly string[]) {
  const { DEFAULT_PAGING_NUM, DEFAULT_MAX_RESPONSE_SIZE } = apiSettings(use)
  const entries = await Promise.all(
    paths.slice(0, DEFAULT_PAGING_NUM).map((path) => {
      const clean = cleanPath(path)
      return clean === '' ? undefined : git.readEntry(view.repo, view.ref.commitId, clean)
    }),
  )
  let size = 0
  const over = entries.findIndex((entry) => {
    size += entry && entry.size <= view.maxBlob ? entry.size : 0
    return size > DEFAULT_MAX_RESPONSE_SIZE
  })
  const kept = over < 0 ? entries : entries.slice(0, over)
  const records = (
    await presentEntries(
      view,
      kept.filter((entry) => entry !== undefined),
      usual,
    )
  ).values()
  return kept.map((entry) => (entry ? (records.next().value ?? null) : null))
}

function severalRoutes(use: ContentsUse): Route[] {
  const common = {
    path: '/repos/{owner}/{repo}/file-contents',
    tag: 'repository',
    access: repository.read('code'),
    scope: ['repository'],
    params: InPath,
    answers: { 200: Type.Array(nullable(ContentsResponse)) },
  } as const
  return [
    route({
      ...common,
      method: 'GET',
      operationId: 'repoGetFileContents',
      summary: 'Reads several files; null for those that do not exist.',
      query: Type.Object({
        ref,
        body: Type.Optional(Type.String({ description: 'The paths as JSON: {"files": ["a", "b"]}' })),
      }),
      refusals: [400],
      handle: async (call) => {
        const files = filesInQuery(call.query.body)
        return readSeveral(use, await viewOf(use, call, call.query.ref), files)
      },
    }),
    route({
      ...common,
      method: 'POST',
      operationId: 'repoGetFileContentsPost',
      summary: 'Reads several files; null for those that do not exist.',
      query: AtRef,
      body: GetFilesOptions,
      handle: async (call) => readSeveral(use, await viewOf(use, call, call.query.ref), call.body.files),
    }),
  ]
}
