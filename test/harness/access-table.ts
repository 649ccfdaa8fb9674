/**
 * Who may call what: kept by hand, from the contract and not from our code, so that a mistake there does not excuse
 * itself here. An operation without a row fails the access walk. Rows of operations that are not there yet wait.
 */

/** Callers of repository operations, from least to most. */
export const repositoryCallers = ['anonymous', 'stranger', 'reader', 'writer', 'admin', 'owner', 'site'] as const
/** Callers of all other operations; `self` is the account that the path names, or anybody. */
export const accountCallers = ['anonymous', 'other', 'self', 'site'] as const
export type Caller = (typeof repositoryCallers)[number] | (typeof accountCallers)[number]

/** What the guard answers: `ok` lets pass, a number refuses, several numbers are all right. */
export type Verdict = 'ok' | number | readonly number[]
type Verdicts<C extends string> = Readonly<Record<C, Verdict>>

const seven = (
  anonymous: Verdict,
  stranger: Verdict,
  reader: Verdict,
  writer: Verdict,
  admin: Verdict,
  owner: Verdict,
) => ({ anonymous, stranger, reader, writer, admin, owner, site: 'ok' }) as Verdicts<(typeof repositoryCallers)[number]>

/** Classes of repository operations on a public repository; on a private one anonymous and strangers get 404. */
export const repositoryClasses = {
  open: seven('ok', 'ok', 'ok', 'ok', 'ok', 'ok'),
  'signed-in reader': seven(401, 'ok', 'ok', 'ok', 'ok', 'ok'),
  'unit write': seven(401, 403, 403, 'ok', 'ok', 'ok'),
  'repo admin': seven(401, 403, 403, 403, 'ok', 'ok'),
  // The reference answers 403 to anonymous callers; 401 is fine.
  'repo admin, anonymous 403': seven([401, 403], 403, 403, 403, 'ok', 'ok'),
  owner: seven(401, 403, 403, 403, 403, 'ok'),
  // About `reader`, who is himself.
  'self or admin': seven(401, 403, 'ok', 403, 'ok', 'ok'),
} as const

const four = (anonymous: Verdict, other: Verdict, self: Verdict, site: Verdict) =>
  ({ anonymous, other, self, site }) as Verdicts<(typeof accountCallers)[number]>
const always = (verdicts: Verdicts<(typeof accountCallers)[number]>) => ({
  public: verdicts,
  limited: verdicts,
  private: verdicts,
})

/** Classes of the other operations, by the visibility of the account that the path names. */
export const accountClasses = {
  anyone: always(four('ok', 'ok', 'ok', 'ok')),
  'signed in': always(four(401, 'ok', 'ok', 'ok')),
  site: always(four(401, 403, 403, 'ok')),
  visible: {
    public: four('ok', 'ok', 'ok', 'ok'),
    limited: four(404, 'ok', 'ok', 'ok'),
    private: four(404, 404, 'ok', 'ok'),
  },
  // Private accounts, too: the contract answers here about them as well.
  'signed in, about anybody': always(four(401, 'ok', 'ok', 'ok')),
  self: {
    public: four(403, 403, 'ok', 'ok'),
    limited: four(404, 403, 'ok', 'ok'),
    private: four(404, 404, 'ok', 'ok'),
  },
} as const

export type RepositoryClass = keyof typeof repositoryClasses
export type AccountClass = keyof typeof accountClasses

/** Token scopes: none; all of a list, the first that lacks is named; or all of a list, named together. */
export type Scope = 'none' | readonly string[]

export type Row = {
  /** Method and path as the contract writes them. */
  readonly route: string
  readonly who: RepositoryClass | AccountClass
  readonly scope: Scope
  /** Public-only tokens are refused altogether. */
  readonly publicOnly?: 'refuse'
  /** What those may get whom the guard lets pass. Otherwise: anything but 401, 403, 404 and 5xx. */
  readonly passes?: readonly number[]
  readonly body?: unknown
  /** Parameters of the path, where the world's own will not do. */
  readonly path?: Readonly<Record<string, string>>
  /** Basic with a password, because tokens in the header are refused with 401. */
  readonly basic?: true
  /** It ends what it is about: `repository` and `token` are made anew for every call. */
  readonly ends?: 'repository' | 'token'
  /** `/user/…` about a repository: anonymous callers get 401 whatever the repository is. */
  readonly user?: true
}

type More = Omit<Row, 'route' | 'who' | 'scope'>
const R = '/repos/{owner}/{repo}'
const at = (route: string) => route.replace(' R', ` ${R}`)
const row = (who: Row['who'], scope: Scope, route: string, more: More = {}): Row => ({
  route: at(route),
  who,
  scope,
  ...more,
})

const repository = ['repository'] as const
const user = ['user'] as const
const both = ['user', 'repository'] as const
const admin = ['admin'] as const
const refuse = { publicOnly: 'refuse' } as const
const image = { body: { image: 'bm90IGFuIGltYWdl' } }

const open = (route: string, more?: More) => row('open', repository, route, more)
const reader = (route: string, more?: More) => row('signed-in reader', repository, route, more)
const unitWrite = (route: string, more?: More) => row('unit write', repository, route, more)
const repoAdmin = (route: string, more?: More) => row('repo admin', repository, route, more)
const repoAdmin403 = (route: string, more?: More) => row('repo admin, anonymous 403', repository, route, more)
const starring = (route: string, more?: More) => row('signed-in reader', both, route, { user: true, ...more })
const meta = (route: string, more?: More) => row('anyone', 'none', route, more)
const own = (route: string, more?: More) => row('signed in', user, route, more)
const confined = (route: string, more?: More) => row('signed in', user, route, { ...refuse, ...more })
const about = (route: string, more?: More) => row('signed in, about anybody', user, route, more)
const site = (route: string, more?: More) => row('site', admin, route, more)

const repositoryRows: Readonly<Record<string, Row>> = {
  repoGet: open('GET R'),
  repoEdit: repoAdmin('PATCH R', { body: {} }),
  repoDelete: row('owner', repository, 'DELETE R', { ends: 'repository' }),
  repoListBranches: open('GET R/branches'),
  repoGetBranch: open('GET R/branches/{branch}'),
  repoCreateBranch: unitWrite('POST R/branches', { body: { new_branch_name: 'main' }, passes: [409] }),
  repoUpdateBranch: unitWrite('PUT R/branches/{branch}', { body: {}, passes: [422] }),
  repoRenameBranch: unitWrite('PATCH R/branches/{branch}', { body: {}, passes: [422] }),
  repoDeleteBranch: unitWrite('DELETE R/branches/{branch}', { path: { branch: 'nothing' }, passes: [404] }),
  repoGetAllCommits: open('GET R/commits'),
  repoGetSingleCommit: open('GET R/git/commits/{sha}'),
  repoDownloadCommitDiffOrPatch: open('GET R/git/commits/{sha}.{diffType}'),
  repoGetNote: open('GET R/git/notes/{sha}', { passes: [404] }),
  repoGetCommitPullRequest: open('GET R/commits/{sha}/pull', { passes: [404] }),
  repoGetCombinedStatusByRef: open('GET R/commits/{ref}/status'),
  repoListStatusesByRef: open('GET R/commits/{ref}/statuses'),
  repoListStatuses: open('GET R/statuses/{sha}'),
  repoCreateStatus: unitWrite('POST R/statuses/{sha}', { body: { state: 'nonsense' } }),
  repoCompareDiff: open('GET R/compare/{basehead}'),
  repoGetContentsList: open('GET R/contents'),
  repoGetContents: open('GET R/contents/{filepath}'),
  repoGetContentsExt: open('GET R/contents-ext/{filepath}'),
  repoGetContentsExtRoot: open('GET R/contents-ext'),
  repoGetFileContents: open('GET R/file-contents?body=%7B%22files%22%3A%5B%22README.md%22%5D%7D'),
  repoGetFileContentsPost: open('POST R/file-contents', { body: { files: ['README.md'] } }),
  repoChangeFiles: unitWrite('POST R/contents', { body: {}, passes: [422] }),
  repoCreateFile: unitWrite('POST R/contents/{filepath}', { body: { content: 'no base64!' }, passes: [422] }),
  repoUpdateFile: unitWrite('PUT R/contents/{filepath}', { body: { content: 'no base64!' }, passes: [422] }),
  repoDeleteFile: unitWrite('DELETE R/contents/{filepath}', { body: {}, passes: [422] }),
  repoApplyDiffPatch: unitWrite('POST R/diffpatch', { body: {}, passes: [422] }),
  repoGetRawFile: open('GET R/raw/{filepath}'),
  repoGetRawFileOrLFS: open('GET R/media/{filepath}'),
  repoGetEditorConfig: open('GET R/editorconfig/{filepath}', { passes: [200, 404] }),
  repoGetArchive: open('GET R/archive/{archive}'),
  repoGetTarball: open('GET R/tarball/{ref}'),
  repoGetZipball: open('GET R/zipball/{ref}'),
  repoGetBundle: open('GET R/bundle/{ref}'),
  GetBlob: open('GET R/git/blobs/{sha}', { path: { sha: '{blob}' } }),
  GetTree: open('GET R/git/trees/{sha}'),
  GetAnnotatedTag: open('GET R/git/tags/{sha}', { path: { sha: '{annotated}' } }),
  repoListAllGitRefs: open('GET R/git/refs'),
  repoListGitRefs: open('GET R/git/refs/{ref}', { path: { ref: 'heads/main' } }),
  repoListTags: open('GET R/tags'),
  repoGetTag: open('GET R/tags/{tag}'),
  repoCreateTag: unitWrite('POST R/tags', { body: {}, passes: [422] }),
  repoDeleteTag: unitWrite('DELETE R/tags/{tag}', { path: { tag: 'nothing' }, passes: [404] }),
  repoGetLanguages: open('GET R/languages'),
  repoGetLicenses: open('GET R/licenses'),
  repoSigningKey: row('open', 'none', 'GET R/signing-key.gpg', { passes: [200, 404] }),
  repoSigningKeySSH: row('open', 'none', 'GET R/signing-key.pub', { passes: [200, 404] }),
  repoListActivityFeeds: open('GET R/activities/feeds'),
  listForks: open('GET R/forks'),
  createFork: reader('POST R/forks', { body: { name: '-' } }),
  repoListTopics: open('GET R/topics'),
  repoUpdateTopics: repoAdmin('PUT R/topics', { body: { topics: ['known'] } }),
  repoAddTopic: repoAdmin403('PUT R/topics/{topic}'),
  repoDeleteTopic: repoAdmin403('DELETE R/topics/{topic}', { path: { topic: 'unknown' }, passes: [404] }),
  repoUpdateAvatar: repoAdmin403('POST R/avatar', image),
  repoDeleteAvatar: repoAdmin403('DELETE R/avatar'),
  repoListCollaborators: reader('GET R/collaborators'),
  repoCheckCollaborator: reader('GET R/collaborators/{collaborator}'),
  repoAddCollaborator: repoAdmin('PUT R/collaborators/{collaborator}', { body: { permission: 'read' } }),
  repoDeleteCollaborator: repoAdmin('DELETE R/collaborators/{collaborator}', { path: { collaborator: 'guest' } }),
  repoGetRepoPermissions: row('self or admin', repository, 'GET R/collaborators/{collaborator}/permission'),
  repoListStargazers: open('GET R/stargazers'),
  repoListSubscribers: open('GET R/subscribers'),
  userCurrentCheckSubscription: reader('GET R/subscription', { passes: [200, 404] }),
  userCurrentPutSubscription: reader('PUT R/subscription', { body: {} }),
  userCurrentDeleteSubscription: reader('DELETE R/subscription'),
  userCurrentCheckStarring: starring('GET /user/starred/{owner}/{repo}', { passes: [204, 404] }),
  userCurrentPutStar: starring('PUT /user/starred/{owner}/{repo}'),
  userCurrentDeleteStar: starring('DELETE /user/starred/{owner}/{repo}'),
  repoGetByID: row('signed-in reader', repository, 'GET /repositories/{id}', {
    user: true,
    path: { id: '{repository}' },
  }),
  renderMarkupInRepository: reader('POST R/markup', { body: { Text: 'a', Mode: 'gfm' } }),
  renderMarkdownInRepository: reader('POST R/markdown', { body: { Text: 'a' } }),
  renderMarkdownRawInRepository: reader('POST R/markdown/raw', { body: 'a' }),
}

const accountRows: Readonly<Record<string, Row>> = {
  getVersion: meta('GET /version'),
  getGeneralUISettings: meta('GET /settings/ui'),
  getGeneralAPISettings: meta('GET /settings/api'),
  getGeneralRepositorySettings: meta('GET /settings/repository'),
  getGeneralAttachmentSettings: meta('GET /settings/attachment'),
  getSigningKey: meta('GET /signing-key.gpg', { passes: [200, 404] }),
  getSigningKeySSH: meta('GET /signing-key.pub', { passes: [200, 404] }),
  listGitignoresTemplates: meta('GET /gitignore/templates'),
  getGitignoreTemplateInfo: meta('GET /gitignore/templates/{name}', { path: { name: 'Go' } }),
  listLicenseTemplates: meta('GET /licenses'),
  getLicenseTemplateInfo: meta('GET /licenses/{name}', { path: { name: 'MIT' } }),
  listLabelTemplates: meta('GET /label/templates'),
  getLabelTemplateInfo: meta('GET /label/templates/{name}', { path: { name: 'Default' } }),
  renderMarkdown: row('signed in', 'none', 'POST /markdown', { body: { Text: 'a' } }),
  renderMarkdownRaw: row('signed in', 'none', 'POST /markdown/raw', { body: 'a' }),
  renderMarkup: row('signed in', 'none', 'POST /markup', { body: { Text: 'a', Mode: 'gfm' } }),
  getCurrentToken: row('signed in', 'none', 'GET /token'),
  deleteCurrentToken: row('signed in', 'none', 'DELETE /token', { ends: 'token' }),

  repoSearch: row('anyone', repository, 'GET /repos/search'),
  topicSearch: row('anyone', repository, 'GET /topics/search?q=a'),
  userSearch: row('anyone', user, 'GET /users/search'),

  userGetCurrent: own('GET /user'),
  getUserSettings: confined('GET /user/settings'),
  updateUserSettings: confined('PATCH /user/settings', { body: {} }),
  userListEmails: confined('GET /user/emails'),
  userAddEmail: confined('POST /user/emails', { body: { emails: [] }, passes: [422] }),
  userDeleteEmail: confined('DELETE /user/emails', { body: { emails: [] }, passes: [204] }),
  userUpdateAvatar: confined('POST /user/avatar', image),
  userDeleteAvatar: confined('DELETE /user/avatar'),
  userCurrentListKeys: confined('GET /user/keys'),
  userCurrentPostKey: confined('POST /user/keys', { body: {}, passes: [422] }),
  userCurrentGetKey: confined('GET /user/keys/{id}', { passes: [404] }),
  userCurrentDeleteKey: confined('DELETE /user/keys/{id}', { passes: [404] }),
  userListBlocks: confined('GET /user/blocks'),
  userCheckUserBlock: confined('GET /user/blocks/{username}', { path: { username: 'guest' }, passes: [404] }),
  userBlockUser: confined('PUT /user/blocks/{username}', { path: { username: '{caller}' }, passes: [400] }),
  userUnblockUser: confined('DELETE /user/blocks/{username}', { path: { username: 'guest' }, passes: [400] }),
  userCurrentListRepos: row('signed in', both, 'GET /user/repos'),
  createCurrentUserRepo: row('signed in', both, 'POST /user/repos', { ...refuse, body: {}, passes: [422] }),
  userCurrentListStarred: row('signed in', both, 'GET /user/starred'),
  userCurrentListSubscriptions: own('GET /user/subscriptions'),
  userCurrentListFollowers: own('GET /user/followers'),
  userCurrentListFollowing: own('GET /user/following'),
  userCurrentCheckFollowing: own('GET /user/following/{username}', { path: { username: 'guest' }, passes: [204, 404] }),
  userCurrentPutFollow: own('PUT /user/following/{username}', { path: { username: 'guest' } }),
  userCurrentDeleteFollow: own('DELETE /user/following/{username}', { path: { username: 'guest' } }),

  userGet: row('visible', user, 'GET /users/{username}'),
  userListRepos: row('visible', both, 'GET /users/{username}/repos'),
  userGetHeatmapData: row('visible', user, 'GET /users/{username}/heatmap'),
  userListActivityFeeds: row('visible', user, 'GET /users/{username}/activities/feeds'),
  userListFollowers: about('GET /users/{username}/followers'),
  userListFollowing: about('GET /users/{username}/following'),
  userCheckFollowing: about('GET /users/{username}/following/{target}', {
    path: { target: 'guest' },
    passes: [204, 404],
  }),
  userListKeys: about('GET /users/{username}/keys'),
  userListStarred: about('GET /users/{username}/starred'),
  userListSubscriptions: about('GET /users/{username}/subscriptions'),
  userGetTokens: row('self', user, 'GET /users/{username}/tokens', { basic: true }),
  userCreateToken: row('self', user, 'POST /users/{username}/tokens', {
    basic: true,
    body: { name: 'x' },
    passes: [400],
  }),
  userDeleteAccessToken: row('self', user, 'DELETE /users/{username}/tokens/{token}', { basic: true, passes: [404] }),

  adminSearchUsers: site('GET /admin/users'),
  adminCreateUser: site('POST /admin/users', { body: {}, passes: [422] }),
  adminEditUser: site('PATCH /admin/users/{username}', { body: {}, passes: [422] }),
  adminDeleteUser: site('DELETE /admin/users/{username}', { path: { username: 'victim{visibility}' } }),
  adminRenameUser: site('POST /admin/users/{username}/rename', { body: {}, passes: [422] }),
  adminCreatePublicKey: site('POST /admin/users/{username}/keys', { body: {}, passes: [422] }),
  adminDeleteUserPublicKey: site('DELETE /admin/users/{username}/keys/{id}', { passes: [404] }),
  adminCreateRepo: site('POST /admin/users/{username}/repos', { body: {}, passes: [422] }),
  adminGetAllEmails: site('GET /admin/emails'),
  adminSearchEmails: site('GET /admin/emails/search'),
}

/** One row per operationId. */
export const accessTable: Readonly<Record<string, Row>> = { ...repositoryRows, ...accountRows }

export const isAboutRepository = (row: Row): boolean => row.who in repositoryClasses

/** Routes outside the REST API: how each of them meets callers, by method and path. */
export const rawTable: Readonly<Record<string, 'git' | 'repository' | 'account' | 'anyone'>> = {
  'GET /{owner}/{repo}/info/refs': 'git',
  'POST /{owner}/{repo}/git-upload-pack': 'git',
  'POST /{owner}/{repo}/git-upload-archive': 'git',
  'POST /{owner}/{repo}/git-receive-pack': 'git',
  'GET /{owner}/{repo}/HEAD': 'git',
  'GET /{owner}/{repo}/objects/{path+}': 'git',
  'GET /{owner}/{repo}/archive/{archive+}': 'repository',
  'GET /{username}.keys': 'account',
  'GET /avatars/{hash}': 'anyone',
  'GET /repo-avatars/{name}': 'anyone',
  'GET /assets/img/avatar_default.png': 'anyone',
  'GET /api/healthz': 'anyone',
}
