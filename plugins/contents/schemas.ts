import { nullable, type Static, Type } from '#core/http'
import { CommitMeta, CommitUser, PayloadCommitVerification } from '#plugins/git-data'

const text = (description: string) => Type.String({ description })
const moment = (description: string) => Type.String({ format: 'date-time', description })

export const FileLinksResponse = Type.Object(
  { self: Type.String(), git: nullable(Type.String()), html: nullable(Type.String()) },
  { $id: 'FileLinksResponse', description: 'Addresses of a file or folder; null where a submodule has none.' },
)

export const ContentsResponse = Type.Object(
  {
    name: Type.String(),
    path: text('From the top of the repository.'),
    sha: text('Id of the blob or tree; of a submodule, the commit.'),
    last_commit_sha: Type.Optional(text('The commit that last touched it.')),
    last_committer_date: Type.Optional(moment('When that was committed.')),
    last_author_date: Type.Optional(moment('When that was written.')),
    last_commit_message: Type.Optional(text('The message of that commit, where it was asked for.')),
    type: Type.Unsafe<'file' | 'dir' | 'symlink' | 'submodule'>({
      type: 'string',
      description: 'file, dir, symlink or submodule',
    }),
    size: Type.Integer({ description: 'Bytes of a file or symlink.' }),
    encoding: nullable(text('base64, where there is content.')),
    content: nullable(text('In base64, for a single file that is not too large.')),
    target: nullable(text('Where a symlink leads.')),
    url: Type.String(),
    html_url: nullable(Type.String()),
    git_url: nullable(Type.String()),
    download_url: nullable(Type.String()),
    submodule_git_url: nullable(text('Where a submodule comes from.')),
    _links: FileLinksResponse,
    lfs_oid: Type.Optional(text('The object that an LFS pointer names.')),
    lfs_size: Type.Optional(Type.Integer({ description: 'Its size in bytes.' })),
  },
  { $id: 'ContentsResponse', description: 'A file, folder, symlink or submodule of a repository.' },
)
export type ContentsResponse = Static<typeof ContentsResponse>

export const ContentsExtResponse = Type.Object(
  {
    file_contents: Type.Optional(ContentsResponse),
    dir_contents: Type.Optional(Type.Array(ContentsResponse)),
  },
  { $id: 'ContentsExtResponse', description: 'A file, or what a folder holds.' },
)

export const GetFilesOptions = Type.Object(
  { files: Type.Array(Type.String(), { zero: true, description: 'Paths of the files.' }) },
  { $id: 'GetFilesOptions', description: 'Which files to read.' },
)

// Git takes whatever stands for an address, and so do the clients: user@localhost, for example.
export const Identity = Type.Object(
  { name: Type.Optional(Type.String()), email: Type.Optional(Type.String()) },
  { $id: 'Identity', description: 'In whose name a commit is made.' },
)

export const CommitDateOptions = Type.Object(
  { author: Type.Optional(moment('When it was written.')), committer: Type.Optional(moment('When it was committed.')) },
  { $id: 'CommitDateOptions', description: 'The dates of a commit; now, unless given.' },
)

/** What every change of files may say. */
const common = {
  message: Type.Optional(text('Message of the commit; by default, what was done to which files.')),
  branch: Type.Optional(
    Type.String({ rule: 'GitRefName', fieldName: 'BranchName', description: 'Branch to start from; the default one.' }),
  ),
  new_branch: Type.Optional(
    Type.String({ rule: 'GitRefName', fieldName: 'NewBranchName', description: 'Branch to make for the commit.' }),
  ),
  force_push: Type.Optional(Type.Boolean({ description: 'Lets new_branch exist; it is then replaced.' })),
  author: Type.Optional(Identity),
  committer: Type.Optional(Identity),
  dates: Type.Optional(CommitDateOptions),
  signoff: Type.Optional(Type.Boolean({ description: 'Adds a line Signed-off-by of the committer.' })),
}
const content = Type.Optional(text('The new content, in base64; without it the file is empty.'))
const sha = text('Id of the blob that the file must be now.')
const fromPath = Type.Optional(text('The path of the file until now, to move it.'))

export const CommonFileOptions = Type.Object(common)
export type CommonFileOptions = Static<typeof CommonFileOptions>

export const CreateFileOptions = Type.Object(
  { ...common, content },
  { $id: 'CreateFileOptions', description: 'A new file.' },
)

export const UpdateFileOptions = Type.Object(
  { ...common, content, sha: Type.Optional(sha), from_path: fromPath },
  { $id: 'UpdateFileOptions', description: 'New content of a file; without sha, a new file.' },
)

export const DeleteFileOptions = Type.Object(
  { ...common, sha: Type.String({ fieldName: 'SHA', description: 'Id of the blob that the file must be now.' }) },
  { $id: 'DeleteFileOptions', description: 'Removes a file.' },
)

export const ChangeFileOperation = Type.Object(
  {
    operation: Type.String({
      enum: ['create', 'update', 'upload', 'rename', 'delete'],
      description: 'upload creates or overwrites.',
    }),
    path: text('Path of the file.'),
    content,
    sha: Type.Optional(sha),
    from_path: fromPath,
  },
  { $id: 'ChangeFileOperation', description: 'What to do with one file.' },
)
export type ChangeFileOperation = Static<typeof ChangeFileOperation>

export const ChangeFilesOptions = Type.Object(
  { ...common, files: Type.Array(ChangeFileOperation, { zero: true, description: 'Changes, in their order.' }) },
  { $id: 'ChangeFilesOptions', description: 'Changes of several files in one commit.' },
)

export const ApplyDiffPatchFileOptions = Type.Object(
  { ...common, content: Type.Optional(text('The patch, as text.')) },
  { $id: 'ApplyDiffPatchFileOptions', description: 'A patch to commit.' },
)

export const FileCommitResponse = Type.Object(
  {
    url: Type.String(),
    sha: Type.String(),
    created: moment('Always 0001-01-01T00:00:00Z: it is not looked up.'),
    html_url: Type.String(),
    author: CommitUser,
    committer: CommitUser,
    parents: Type.Array(CommitMeta),
    message: Type.String(),
    tree: CommitMeta,
  },
  { $id: 'FileCommitResponse', description: 'The commit that a change of files made.' },
)
export type FileCommitResponse = Static<typeof FileCommitResponse>

const made = { commit: FileCommitResponse, verification: nullable(PayloadCommitVerification) }

export const FileResponse = Type.Object(
  { content: nullable(ContentsResponse), ...made },
  { $id: 'FileResponse', description: 'A file as it became, and the commit.' },
)

export const FilesResponse = Type.Object(
  { files: nullable(Type.Array(nullable(ContentsResponse))), ...made },
  { $id: 'FilesResponse', description: 'The files as they became, null for removed ones, and the commit.' },
)

export const FileDeleteResponse = Type.Object(
  { content: Type.Null({ description: 'Always null.' }), ...made },
  { $id: 'FileDeleteResponse', description: 'The commit that removed a file.' },
)
