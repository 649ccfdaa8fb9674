import type { UserRecord } from '../identity/index.ts'
import { type Mode, type RepoAccess, reaches } from './access.ts'
import type { RepositoryRow } from './tables.ts'
import { defaultPullSettings, type UnitName, type Units } from './units.ts'

/** Where links lead. `base` is the address that the client used, `root` the configured one; no trailing slash. */
export type Links = {
  readonly base: string
  readonly root: string
  readonly ssh: (fullName: string) => string
  /** Domain of the addresses of those who hide theirs. */
  readonly noReply: string
}

const never = '0001-01-01T00:00:00Z'
const epoch = '1970-01-01T00:00:00Z'

/** RFC 3339 in whole seconds, as the API writes all times. */
export const wireTime = (time: Date) => `${time.toISOString().slice(0, 19)}Z`

/** What a repository record is made of. */
export type RecordParts = {
  readonly repo: RepositoryRow
  readonly owner: UserRecord
  readonly ownerIsPrivate: boolean
  readonly permissions: { readonly admin: boolean; readonly push: boolean; readonly pull: boolean }
  readonly branchCount: number
  readonly disabledUnits: ReadonlySet<UnitName>
  /** Fields that plugins add. */
  readonly facts: Record<string, unknown>
  readonly parent: object | undefined
}

/** The caller's rights as the record shows them: push and pull are about code. */
export function permissionsOf(access: Pick<RepoAccess, 'mode' | 'isOn'>): RecordParts['permissions'] {
  // Nobody pushes to or pulls from a repository whose code is off, not even its owner.
  const code: Mode = access.isOn('code') ? access.mode : 'none'
  return { admin: reaches(access.mode, 'admin'), push: reaches(code, 'write'), pull: reaches(code, 'read') }
}

/** A repository as the API shows it. */
export function repositoryRecord(parts: RecordParts, links: Links) {
  const { repo, owner } = parts
  const fullName = `${owner.login}/${repo.name}`
  const page = `${links.base}/${fullName}`
  const api = `${links.root}/api/v1/repos/${fullName}`
  return {
    id: repo.id,
    owner,
    name: repo.name,
    full_name: fullName,
    description: repo.description,
    empty: repo.is_empty,
    private: repo.is_private,
    fork: repo.parent_id !== null,
    template: repo.is_template,
    ...(parts.parent ? { parent: parts.parent } : {}),
    mirror: repo.is_mirror,
    size: Math.floor(repo.git_size / 1024),
    language: repo.language,
    languages_url: `${api}/languages`,
    html_url: page,
    url: api,
    link: '',
    ssh_url: links.ssh(fullName),
    clone_url: `${page}.git`,
    original_url: repo.original_url,
    website: repo.website,
    branch_count: parts.branchCount,
    default_branch: repo.default_branch,
    archived: repo.is_archived,
    created_at: wireTime(repo.created_at),
    updated_at: wireTime(repo.updated_at),
    archived_at: repo.is_archived && repo.archived_at ? wireTime(repo.archived_at) : epoch,
    permissions: parts.permissions,
    ...unitFields(repo.units as Units, parts.disabledUnits),
    avatar_url: repo.avatar ? `${links.base}/repo-avatars/${repo.avatar}` : '',
    internal: !repo.is_private && parts.ownerIsPrivate,
    mirror_interval: '',
    object_format_name: repo.object_format as 'sha1' | 'sha256',
    mirror_updated: never,
    mirror_last_sync_at: never,
    licenses: repo.licenses,
    ...parts.facts,
  }
}

/** The keys that tell which units are on, and their settings. Units that the host disabled read as off. */
function unitFields(units: Units, disabled: ReadonlySet<UnitName>) {
  const on = <U extends UnitName>(name: U) => (disabled.has(name) ? undefined : units[name])
  const pulls = on('pulls')
  const settings = pulls ?? noPulls
  const issues = on('issues')
  const external = on('ext_issues')
  const wiki = on('ext_wiki')
  return {
    has_code: Boolean(on('code')),
    has_issues: Boolean(issues || external),
    ...(issues ? { internal_tracker: issues } : {}),
    ...(external ? { external_tracker: external } : {}),
    has_wiki: Boolean(on('wiki') || wiki),
    ...(wiki ? { external_wiki: wiki } : {}),
    has_pull_requests: Boolean(pulls),
    has_projects: Boolean(on('projects')),
    projects_mode: on('projects')?.mode ?? 'all',
    has_releases: Boolean(on('releases')),
    has_packages: Boolean(on('packages')),
    has_actions: Boolean(on('actions')),
    ...settings,
  }
}

/** Pull settings as they read while the unit is off: clients expect exactly these. */
const noPulls = {
  ...(Object.fromEntries(
    Object.keys(defaultPullSettings('merge', false)).map((key) => [key, key === 'allow_manual_merge']),
  ) as Record<keyof ReturnType<typeof defaultPullSettings>, boolean>),
  default_merge_style: 'merge',
  default_update_style: 'merge',
}
