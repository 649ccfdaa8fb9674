import { type Static, Type } from '@sinclair/typebox'

/** Parts of a repository that can be on or off, by their names in the configuration without `repo.`. */
export const unitNames = [
  'code',
  'issues',
  'ext_issues',
  'pulls',
  'releases',
  'wiki',
  'ext_wiki',
  'projects',
  'packages',
  'actions',
] as const
export type UnitName = (typeof unitNames)[number]

export const InternalTracker = Type.Object(
  {
    enable_time_tracker: Type.Boolean(),
    allow_only_contributors_to_track_time: Type.Boolean(),
    enable_issue_dependencies: Type.Boolean(),
  },
  { $id: 'InternalTracker', description: 'Settings of the built-in issue tracker.' },
)
export const ExternalTracker = Type.Object(
  {
    external_tracker_url: Type.String(),
    external_tracker_format: Type.String(),
    external_tracker_style: Type.String(),
    external_tracker_regexp_pattern: Type.String(),
  },
  { $id: 'ExternalTracker', description: 'Where the issues of the repository live instead.' },
)
export const ExternalWiki = Type.Object(
  { external_wiki_url: Type.String() },
  { $id: 'ExternalWiki', description: 'Where the wiki of the repository lives instead.' },
)

/** Settings of the pull request unit. */
export type PullSettings = {
  readonly ignore_whitespace_conflicts: boolean
  readonly allow_merge_commits: boolean
  readonly allow_rebase: boolean
  readonly allow_rebase_explicit: boolean
  readonly allow_squash_merge: boolean
  readonly allow_fast_forward_only_merge: boolean
  readonly allow_manual_merge: boolean
  readonly autodetect_manual_merge: boolean
  readonly allow_merge_update: boolean
  readonly allow_rebase_update: boolean
  readonly default_delete_branch_after_merge: boolean
  readonly default_allow_maintainer_edit: boolean
  readonly default_merge_style: string
  readonly default_update_style: string
}

/** The enabled units of a repository and their settings, as stored in its `units` column. */
export type Units = {
  readonly code?: Record<string, never>
  readonly issues?: Static<typeof InternalTracker>
  readonly ext_issues?: Static<typeof ExternalTracker>
  readonly pulls?: PullSettings
  readonly releases?: Record<string, never>
  readonly wiki?: Record<string, never>
  readonly ext_wiki?: Static<typeof ExternalWiki>
  readonly projects?: { readonly mode: string }
  readonly packages?: Record<string, never>
  readonly actions?: Record<string, never>
}

export const defaultPullSettings = (mergeStyle: string, deleteBranch: boolean): PullSettings => ({
  ignore_whitespace_conflicts: false,
  allow_merge_commits: true,
  allow_rebase: true,
  allow_rebase_explicit: true,
  allow_squash_merge: true,
  allow_fast_forward_only_merge: true,
  allow_manual_merge: false,
  autodetect_manual_merge: false,
  allow_merge_update: true,
  allow_rebase_update: true,
  default_delete_branch_after_merge: deleteBranch,
  default_allow_maintainer_edit: true,
  default_merge_style: mergeStyle,
  default_update_style: 'merge',
})

export type UnitDefaults = {
  readonly mergeStyle: string
  readonly deleteBranchAfterMerge: boolean
  readonly timeTracker: boolean
  readonly onlyContributorsTrackTime: boolean
  readonly dependencies: boolean
}

/** Settings of a unit that has just been enabled. External units have none until somebody gives them. */
export function unitSettings(name: UnitName, defaults: UnitDefaults): object {
  if (name === 'pulls') return defaultPullSettings(defaults.mergeStyle, defaults.deleteBranchAfterMerge)
  if (name === 'projects') return { mode: 'all' }
  if (name !== 'issues') return {}
  return {
    enable_time_tracker: defaults.timeTracker,
    allow_only_contributors_to_track_time: defaults.onlyContributorsTrackTime,
    enable_issue_dependencies: defaults.dependencies,
  }
}

/** Reads `repo.code` or `code`; undefined for a name that is no unit. */
export function unitNamed(text: string): UnitName | undefined {
  const name = text.trim().replace(/^repo\./, '')
  return unitNames.find((unit) => unit === name)
}
