import { type Static, Type } from '@sinclair/typebox'

const mergeStyles = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'] as const

/** Keys of app.ini that this room reads. */
export const reposConfig = {
  repository: Type.Object({
    DEFAULT_BRANCH: Type.String({ default: 'main', description: 'Default branch of new repositories.' }),
    FORCE_PRIVATE: Type.Boolean({ default: false, description: 'Makes every new repository private.' }),
    MAX_CREATION_LIMIT: Type.Integer({
      default: -1,
      minimum: -1,
      description: 'Repositories that one user may own; -1 for no limit. Administrators are exempt.',
    }),
    DEFAULT_REPO_UNITS: Type.Array(Type.String(), {
      default: [
        'repo.code',
        'repo.issues',
        'repo.pulls',
        'repo.releases',
        'repo.wiki',
        'repo.projects',
        'repo.packages',
        'repo.actions',
      ],
      description: 'Units of a new repository.',
    }),
    DEFAULT_TEMPLATE_REPO_UNITS: Type.Array(Type.String(), {
      default: [
        'repo.code',
        'repo.issues',
        'repo.pulls',
        'repo.releases',
        'repo.wiki',
        'repo.projects',
        'repo.packages',
      ],
      description: 'Units of a new template repository.',
    }),
    DISABLED_REPO_UNITS: Type.Array(Type.String(), {
      default: [],
      description: 'Units that are off in every repository.',
    }),
    USE_COMPAT_SSH_URI: Type.Boolean({
      default: false,
      description: 'Writes SSH addresses as ssh://user@host/owner/name.git also on port 22.',
    }),
  }),
  'repository.pull-request': Type.Object({
    DEFAULT_MERGE_STYLE: Type.Union(
      mergeStyles.map((style) => Type.Literal(style)),
      {
        default: 'merge',
        description: 'Merge style that a new repository proposes.',
      },
    ),
    DEFAULT_DELETE_BRANCH_AFTER_MERGE: Type.Boolean({
      default: false,
      description: 'Whether a new repository proposes to delete merged branches.',
    }),
  }),
  service: Type.Object({
    DEFAULT_ENABLE_TIMETRACKING: Type.Boolean({ default: true, description: 'New repositories track time.' }),
    DEFAULT_ALLOW_ONLY_CONTRIBUTORS_TO_TRACK_TIME: Type.Boolean({
      default: true,
      description: 'In new repositories only contributors may track time.',
    }),
    DEFAULT_ENABLE_DEPENDENCIES: Type.Boolean({
      default: true,
      description: 'New repositories have issue dependencies.',
    }),
  }),
  server: Type.Object({
    SSH_DOMAIN: Type.String({ default: '', description: 'Host name in SSH addresses; DOMAIN unless given.' }),
    SSH_PORT: Type.Integer({ default: 22, minimum: 1, maximum: 65535, description: 'Port in SSH addresses.' }),
    SSH_USER: Type.String({ default: 'git', description: 'User name in SSH addresses.' }),
  }),
}

export type ReposConfig = { readonly [S in keyof typeof reposConfig]: Static<(typeof reposConfig)[S]> }
