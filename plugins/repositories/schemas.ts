import { type Static, Type } from '#core/http'
import { ExternalTracker, ExternalWiki, InternalTracker } from '#core/repos'

const optional = Type.Optional
const flag = (description: string) => optional(Type.Boolean({ description }))

/** What POST …/repos takes. */
export const CreateRepoOption = Type.Object(
  {
    name: Type.String({ maxLength: 100, rule: 'AlphaDashDot', description: 'Name of the repository.' }),
    description: optional(Type.String({ maxLength: 2048 })),
    private: flag('Only people with a role may see it.'),
    template: flag('Others may generate repositories from it.'),
    auto_init: flag('Starts with a commit that holds a README and the files chosen below.'),
    readme: optional(Type.String({ description: 'README template; `Default` unless given.' })),
    gitignores: optional(Type.String({ description: 'Names of gitignore templates, separated by commas.' })),
    license: optional(Type.String({ description: 'Name of a licence template.' })),
    issue_labels: optional(Type.String({ description: 'Name of a label set.' })),
    default_branch: optional(Type.String({ maxLength: 100, rule: 'GitRefName' })),
    trust_model: optional(
      Type.String({
        maxLength: 255,
        description: 'Whose signatures count: default, collaborator, committer or collaboratorcommitter.',
      }),
    ),
    object_format_name: optional(Type.String({ maxLength: 6, description: 'sha1 or sha256.' })),
  },
  { $id: 'CreateRepoOption', description: 'A new repository.' },
)
export type CreateRepoOption = Static<typeof CreateRepoOption>

/** What PATCH takes; only given keys change. */
export const EditRepoOption = Type.Object(
  {
    name: optional(
      Type.String({ maxLength: 100, rule: 'AlphaDashDot', description: 'A new name; the old one redirects.' }),
    ),
    description: optional(Type.String({ maxLength: 2048 })),
    website: optional(Type.String({ maxLength: 1024 })),
    private: flag('Makes it private or public. Turning private clears all stars and watches.'),
    template: flag('Others may generate repositories from it.'),
    archived: flag('Nothing can be pushed or opened any more.'),
    default_branch: optional(
      Type.String({ description: 'Applied when the branch exists or the repository is empty.' }),
    ),
    has_code: flag('Turns the code unit on or off.'),
    has_issues: flag('Turns the issues unit on or off.'),
    internal_tracker: optional(Type.Partial(InternalTracker)),
    external_tracker: optional(Type.Partial(ExternalTracker)),
    has_wiki: flag('Turns the wiki unit on or off.'),
    external_wiki: optional(Type.Partial(ExternalWiki)),
    has_projects: flag('Turns the projects unit on or off.'),
    projects_mode: optional(
      Type.Union([Type.Literal('repo'), Type.Literal('owner'), Type.Literal('all')], {
        description: 'Read with has_projects.',
      }),
    ),
    has_releases: flag('Turns the releases unit on or off.'),
    has_packages: flag('Turns the packages unit on or off.'),
    has_actions: flag('Turns the actions unit on or off.'),
    has_pull_requests: flag('Turns the pull requests unit on or off.'),
    ignore_whitespace_conflicts: flag('Conflicts in white space alone are none.'),
    allow_merge_commits: flag('Pull requests may be merged with a merge commit.'),
    allow_rebase: flag('Pull requests may be rebased and fast-forwarded.'),
    allow_rebase_explicit: flag('Pull requests may be rebased and merged with a merge commit.'),
    allow_squash_merge: flag('Pull requests may be squashed.'),
    allow_fast_forward_only_merge: flag('Pull requests may be fast-forwarded.'),
    allow_manual_merge: flag('Pull requests may be marked as merged by hand.'),
    autodetect_manual_merge: flag('Manual merges are noticed.'),
    allow_merge_update: flag('Pull request branches may be updated by merging.'),
    allow_rebase_update: flag('Pull request branches may be updated by rebasing.'),
    default_delete_branch_after_merge: flag('Proposes to delete the branch after merging.'),
    default_allow_maintainer_edit: flag('Proposes that maintainers may push to the head branch.'),
    default_merge_style: optional(Type.String()),
    default_update_style: optional(Type.String({ description: 'merge or rebase.' })),
    mirror_interval: optional(Type.String({ description: 'Only for mirrors.' })),
    enable_prune: flag('Only for mirrors.'),
    mirror_username: optional(Type.String({ description: 'Only for mirrors.' })),
    mirror_password: optional(Type.String({ description: 'Only for mirrors.' })),
    mirror_token: optional(Type.String({ description: 'Only for mirrors.' })),
  },
  { $id: 'EditRepoOption', description: 'Changes of a repository.' },
)
export type EditRepoOption = Static<typeof EditRepoOption>

export const SearchResults = Type.Object(
  { ok: Type.Boolean(), data: Type.Array(Type.Ref('Repository')) },
  { $id: 'SearchResults', description: 'Repositories that were found.' },
)

export const AddCollaboratorOption = Type.Object(
  {
    permission: optional(
      Type.Unsafe<'read' | 'write' | 'admin'>({
        type: 'string',
        enum: ['read', 'write', 'admin'],
        description: 'write unless given.',
      }),
    ),
  },
  { $id: 'AddCollaboratorOption', description: 'The role of a collaborator.' },
)

export const RepoCollaboratorPermission = Type.Object(
  {
    permission: Type.Unsafe<string>({ type: 'string', enum: ['none', 'read', 'write', 'admin', 'owner'] }),
    role_name: Type.String(),
    user: Type.Ref('User'),
  },
  { $id: 'RepoCollaboratorPermission', description: 'What a person may do with a repository.' },
)

export const UpdateRepoAvatarOption = Type.Object(
  { image: Type.String({ minLength: 1, description: 'The picture, base64.' }) },
  { $id: 'UpdateRepoAvatarOption', description: 'A picture: png, jpeg, gif or webp.' },
)

export const SearchQuery = Type.Object({
  q: optional(Type.String({ description: 'Words separated by commas; any may match. At most 50 count.' })),
  topic: optional(Type.Boolean({ description: 'Only exact topics.' })),
  includeDesc: optional(Type.Boolean({ description: 'Looks into descriptions, too.' })),
  uid: optional(Type.Integer({ description: 'Owned by, or contributed to by, this user.' })),
  priority_owner_id: optional(Type.Integer({ description: 'Lists the repositories of this owner first.' })),
  team_id: optional(Type.Integer({ description: 'Only repositories of this team.' })),
  starredBy: optional(Type.Integer({ description: 'Starred by this user.' })),
  private: optional(Type.Boolean({ description: 'False leaves out private repositories.' })),
  is_private: optional(Type.Boolean({ description: 'Only private, or only public ones.' })),
  template: optional(Type.Boolean({ description: 'Only templates, or only others.' })),
  archived: optional(Type.Boolean({ description: 'Only archived, or only others.' })),
  mode: optional(Type.String({ description: 'source, fork, mirror or collaborative.' })),
  exclusive: optional(Type.Boolean({ description: 'With uid: only what the user owns.' })),
  sort: optional(
    Type.String({ description: 'alpha, created, updated, size, git_size, lfs_size, stars, forks or id.' }),
  ),
  order: optional(Type.String({ description: 'asc or desc; read with sort.' })),
})
export type SearchQuery = Static<typeof SearchQuery>
