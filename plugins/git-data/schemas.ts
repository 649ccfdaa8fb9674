import { nullable, record, type Static, Type } from '#core/http'

const text = (description: string) => Type.String({ description })
const number = (description: string) => Type.Integer({ description })
const time = (description: string) => Type.String({ format: 'date-time', description })

export const CommitUser = record(
  'CommitUser',
  { name: Type.String(), email: Type.String(), date: text('With the offset that was written.') },
  { description: 'Who wrote or committed, as git recorded it.' },
)
export const Identity = record(
  'Identity',
  { name: Type.Optional(Type.String()), email: Type.Optional(Type.String({ rule: 'Email' })) },
  { description: 'Who shall be recorded as author or committer.' },
)
export const CommitMeta = record(
  'CommitMeta',
  { url: Type.String(), sha: Type.String(), created: time('0001-01-01T00:00:00Z where it was not looked up.') },
  { description: 'A reference to a commit or tree.' },
)
export const PayloadUser = record(
  'PayloadUser',
  {
    name: Type.String(),
    email: Type.String(),
    username: text("Name of the account that has the address; '' for none."),
  },
  { description: 'Who wrote or committed, and his account.' },
)
export const PayloadCommitVerification = record(
  'PayloadCommitVerification',
  {
    verified: Type.Boolean(),
    reason: text('Why it is not verified, as a key of texts; or whose key it was made with.'),
    signature: Type.String(),
    signer: nullable(Type.Ref('PayloadUser')),
    payload: text('What was signed.'),
  },
  { description: 'What is known of a signature.' },
)
export const CommitStats = record(
  'CommitStats',
  { total: number('Changed lines.'), additions: number('Added lines.'), deletions: number('Removed lines.') },
  { description: 'How much a commit changed against its first parent.' },
)
export const CommitAffectedFiles = record(
  'CommitAffectedFiles',
  { filename: Type.String(), status: text('added, removed or modified') },
  { description: 'A file that a commit touched.' },
)
export const RepoCommit = record(
  'RepoCommit',
  {
    url: Type.String(),
    author: CommitUser,
    committer: CommitUser,
    message: Type.String(),
    tree: CommitMeta,
    verification: nullable(PayloadCommitVerification),
  },
  { description: 'What git knows of a commit.' },
)
export const Commit = record(
  'Commit',
  {
    url: Type.String(),
    sha: Type.String(),
    created: time('When it was committed.'),
    html_url: Type.String(),
    commit: RepoCommit,
    author: nullable(Type.Ref('User')),
    committer: nullable(Type.Ref('User')),
    parents: Type.Array(CommitMeta),
    files: nullable(Type.Array(CommitAffectedFiles)),
    stats: nullable(CommitStats),
  },
  { description: 'A commit with the accounts behind it.' },
)
const Paths = nullable(Type.Array(Type.String()))
export const PayloadCommit = record(
  'PayloadCommit',
  {
    id: Type.String(),
    message: Type.String(),
    url: text('Its page.'),
    author: PayloadUser,
    committer: PayloadUser,
    verification: nullable(PayloadCommitVerification),
    timestamp: time('When it was written.'),
    added: Paths,
    removed: Paths,
    modified: Paths,
  },
  { description: 'A commit as branches and pushes show it.' },
)

export type CommitUser = Static<typeof CommitUser>
export type CommitMeta = Static<typeof CommitMeta>
export type PayloadUser = Static<typeof PayloadUser>
export type CommitRecord = Static<typeof Commit>
export type PayloadCommit = Static<typeof PayloadCommit>
/** A verification; `signer` is a PayloadUser. */
export type Verification = {
  verified: boolean
  reason: string
  signature: string
  signer: PayloadUser | null
  payload: string
}

export const Branch = record(
  'Branch',
  {
    name: Type.String(),
    commit: nullable(PayloadCommit),
    protected: Type.Boolean(),
    required_approvals: Type.Integer(),
    enable_status_check: Type.Boolean(),
    status_check_contexts: nullable(Type.Array(Type.String())),
    user_can_push: Type.Boolean({ description: 'Whether the caller may push to it.' }),
    user_can_merge: Type.Boolean({ description: 'Whether the caller may merge into it.' }),
    effective_branch_protection_name: text('The rule that protects it; shown to administrators of the repository.'),
  },
  { description: 'A branch.' },
)
export const Tag = record(
  'Tag',
  {
    name: Type.String(),
    message: text("The tag's message, or the commit's for a tag without one."),
    id: text('The tag object, or the commit for a tag without one.'),
    commit: CommitMeta,
    zipball_url: Type.Optional(Type.String()),
    tarball_url: Type.Optional(Type.String()),
  },
  { description: 'A tag.' },
)
export const AnnotatedTagObject = record(
  'AnnotatedTagObject',
  { type: Type.String(), url: Type.String(), sha: Type.String() },
  { description: 'What a tag points to.' },
)
export const AnnotatedTag = record(
  'AnnotatedTag',
  {
    tag: Type.String(),
    sha: Type.String(),
    url: Type.String(),
    message: Type.String(),
    tagger: CommitUser,
    object: AnnotatedTagObject,
    verification: PayloadCommitVerification,
  },
  { description: 'The object of an annotated tag.' },
)
export const GitObject = record(
  'GitObject',
  { type: text('commit, tag, tree or blob'), sha: Type.String(), url: Type.String() },
  { description: 'An object of git.' },
)
export const Reference = record(
  'Reference',
  { ref: text('Its full name.'), url: Type.String(), object: GitObject },
  { description: 'A ref.' },
)
export const GitEntry = record(
  'GitEntry',
  {
    path: Type.String(),
    mode: text('Six octal digits.'),
    type: text('blob, tree or commit'),
    size: number('Bytes of a blob.'),
    sha: Type.String(),
    url: text("'' for submodules."),
  },
  { description: 'An entry of a tree.' },
)
export const GitTreeResponse = record(
  'GitTreeResponse',
  {
    sha: Type.String(),
    url: Type.String(),
    tree: nullable(Type.Array(GitEntry)),
    truncated: Type.Boolean({ description: 'There are more pages.' }),
    page: Type.Integer(),
    total_count: Type.Integer(),
  },
  { description: 'A page of a tree.' },
)
export const GitBlobResponse = record(
  'GitBlobResponse',
  {
    content: nullable(text('Base64; null when it is too large.')),
    encoding: nullable(text('base64')),
    url: Type.String(),
    sha: Type.String(),
    size: number('Bytes.'),
    lfs_oid: Type.Optional(text('The LFS object that the blob stands for.')),
    lfs_size: Type.Optional(number('Bytes of the LFS object.')),
  },
  { description: 'A blob.' },
)
export const Note = record(
  'Note',
  { message: Type.String(), commit: Commit },
  { description: 'A note on a commit, and the commit that recorded the note.' },
)
export const Compare = record(
  'Compare',
  { total_commits: Type.Integer(), commits: Type.Array(Commit) },
  { description: 'What one ref has that another has not.' },
)
