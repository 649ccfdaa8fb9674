import { Bytes, Empty, notFound, type Route, repository, route, Type } from '#core/http'
import { git } from '#core/repos'
import { definitionFor } from '../editorconfig.ts'
import type { Files } from '../files.ts'
import { largestPointer } from '../lfs.ts'
import type { ContentsUse } from '../needs.ts'
import { noObject, requireRef } from '../refs.ts'
import { serve } from '../serving.ts'
import { FileInPath, ref } from './reads.ts'

/** An .editorconfig above this is nobody's. */
const largestConfig = 65_536

/** Files as they are, and what .editorconfig says about them. */
export function rawRoutes(use: ContentsUse, files: Files): Route[] {
  const common = {
    method: 'GET',
    tag: 'repository',
    access: repository.read('code'),
    scope: ['repository'],
    params: FileInPath,
    query: Type.Object({ ref }),
  } as const
  const served = { ...common, answers: { 200: Bytes, 206: Bytes, 304: Empty }, refusals: [416] } as const
  return [
    route({
      ...served,
      path: '/repos/{owner}/{repo}/raw/{filepath+}',
      operationId: 'repoGetRawFile',
      summary: 'Gives a file as it is. The path may begin with a ref.',
      handle: async (call) => {
        const file = await files.find(call.repo, call.params.filepath, call.query.ref)
        const cacheControl = `${call.repo.isPublic ? 'public' : 'private'}, max-age=21600`
        return serve(file.repo, { entry: file.entry, modified: await files.modified(file), cacheControl }, call)
      },
    }),
    route({
      ...served,
      path: '/repos/{owner}/{repo}/media/{filepath+}',
      operationId: 'repoGetRawFileOrLFS',
      summary: 'Gives a file as it is; for an LFS pointer, the object where the repository has it.',
      handle: async (call) => {
        const file = await files.find(call.repo, call.params.filepath, call.query.ref)
        // What may be a pointer now may be resolved a moment later, so that nobody may keep it unasked.
        const mayBePointer = file.entry.size <= largestPointer
        const cacheControl = mayBePointer
          ? 'max-age=0, private, must-revalidate'
          : `${call.repo.isPublic ? 'public' : 'private'}, max-age=21600`
        return serve(file.repo, { entry: file.entry, modified: await files.modified(file), cacheControl }, call)
      },
    }),
    route({
      ...common,
      path: '/repos/{owner}/{repo}/editorconfig/{filepath}',
      operationId: 'repoGetEditorConfig',
      summary: 'Tells what the .editorconfig of the top folder says about a file.',
      answers: { 200: Type.Record(Type.String(), Type.String()) },
      handle: async ({ repo, params, query }) => {
        if (repo.repo.is_empty) throw notFound('repository is empty')
        const open = use.repos.open(repo.repo)
        const { commitId } = await requireRef(open, repo.repo, query.ref ?? '')
        const entry = await git.readEntry(open, commitId, '.editorconfig')
        if (entry?.type !== 'file' || entry.size > largestConfig) throw noObject('', '.editorconfig')
        const data = await git.readBlob(open, entry.id, largestConfig)
        if (!data) throw noObject('', '.editorconfig')
        return definitionFor(data, params.filepath)
      },
    }),
  ]
}
