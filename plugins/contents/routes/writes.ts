import { answer, type Route, route } from '#core/http'
import { editor } from '../access.ts'
import { standardMessage } from '../commit-text.ts'
import type { ContentsUse } from '../needs.ts'
import {
  ApplyDiffPatchFileOptions,
  type ChangeFileOperation,
  ChangeFilesOptions,
  type CommonFileOptions,
  CreateFileOptions,
  DeleteFileOptions,
  FileDeleteResponse,
  FileResponse,
  FilesResponse,
  UpdateFileOptions,
} from '../schemas.ts'
import { changeOf, commit, type Editing, presentChanged, presentCommit } from '../writing.ts'
import { FileInPath, InPath } from './reads.ts'

/** Files come in base64, so that this takes files of 36 MiB; larger ones are pushed. */
const bodyLimit = 48 * 2 ** 20

/** Changes of files by commits. */
export function writeRoutes(use: ContentsUse): Route[] {
  const changed = async (editing: Editing, wanted: CommonFileOptions, files: readonly ChangeFileOperation[]) => {
    const written = await commit(use, editing, wanted, {
      changes: files.map(changeOf),
      standard: standardMessage(files),
    })
    const [made, contents] = await Promise.all([
      presentCommit(use, editing, written),
      presentChanged(use, editing, written),
    ])
    return { made, contents }
  }
  const one = async (editing: Editing, wanted: CommonFileOptions, file: ChangeFileOperation) => {
    const { made, contents } = await changed(editing, wanted, [file])
    return { content: contents[0] ?? null, ...made }
  }
  const common = {
    tag: 'repository',
    access: editor,
    scope: ['repository'],
    refusals: [409, 413],
    bodyLimit,
  } as const
  const ofFile = { ...common, path: '/repos/{owner}/{repo}/contents/{filepath+}', params: FileInPath } as const

  return [
    route({
      ...common,
      method: 'POST',
      path: '/repos/{owner}/{repo}/contents',
      operationId: 'repoChangeFiles',
      summary: 'Changes several files in one commit.',
      params: InPath,
      body: ChangeFilesOptions,
      answers: { 201: FilesResponse },
      handle: async (call) => {
        const { made, contents } = await changed(call, call.body, call.body.files)
        return { files: contents.length > 0 ? contents : null, ...made }
      },
    }),
    route({
      ...ofFile,
      method: 'POST',
      operationId: 'repoCreateFile',
      summary: 'Creates a file.',
      body: CreateFileOptions,
      answers: { 201: FileResponse },
      handle: (call) => {
        const { content } = call.body
        return one(call, call.body, { operation: 'create', path: call.params.filepath, ...(content && { content }) })
      },
    }),
    route({
      ...ofFile,
      method: 'PUT',
      operationId: 'repoUpdateFile',
      summary: 'Changes or moves a file; creates it when no sha is given.',
      body: UpdateFileOptions,
      answers: { 200: FileResponse, 201: FileResponse },
      handle: async (call) => {
        const { content = '', from_path = '', sha = '' } = call.body
        const operation = sha ? 'update' : 'create'
        const file = { operation, path: call.params.filepath, content, from_path, sha }
        return answer(sha ? 200 : 201, await one(call, call.body, file))
      },
    }),
    route({
      ...ofFile,
      method: 'DELETE',
      operationId: 'repoDeleteFile',
      summary: 'Removes a file.',
      refusals: [400, ...common.refusals],
      body: DeleteFileOptions,
      answers: { 200: FileDeleteResponse },
      handle: (call) => one(call, call.body, { operation: 'delete', path: call.params.filepath, sha: call.body.sha }),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/repos/{owner}/{repo}/diffpatch',
      operationId: 'repoApplyDiffPatch',
      summary: 'Commits a patch.',
      params: InPath,
      body: ApplyDiffPatchFileOptions,
      answers: { 201: FileResponse },
      handle: async (call) => {
        const patch = call.body.content ?? ''
        const written = await commit(use, call, call.body, { patch, standard: 'apply-patch' })
        return { content: null, ...(await presentCommit(use, call, written)) }
      },
    }),
  ]
}
