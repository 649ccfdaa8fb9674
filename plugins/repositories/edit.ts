import type { Tx } from '#core/db'
import { unprocessable } from '#core/http'
import { type AccountRow, type Actor, isSiteAdmin } from '#core/identity'
import {
  git,
  type PullSettings,
  type RepoAccess,
  type Repos,
  RepositoryAccessChanged,
  RepositoryArchived,
  RepositoryVisibilityChanged,
  type ReposTables,
  renameRecord,
  type Units,
} from '#core/repos'
import type { EditRepoOption } from './schemas.ts'

type Deps = { readonly repos: Repos; readonly forcePrivate: boolean }
type Doer = Actor & { readonly account: AccountRow }

/**
 * Applies the given keys, all in one transaction. A key that does not fit the repository (mirror settings on a plain
 * one, a unit that the host disabled, an unknown default branch) changes nothing, as the contract has it.
 */
export async function editRepository(
  deps: Deps,
  tx: Tx,
  { repo, owner }: RepoAccess,
  doer: Doer,
  wanted: EditRepoOption,
): Promise<void> {
  if (wanted.name !== undefined && wanted.name !== repo.name)
    await renameRecord(tx, repo, owner, doer.account.id, wanted.name)
  const isPrivate = await privacyOf(deps, tx, repo, doer, wanted)
  const archived = archivedOf(repo, wanted)
  const branch = await branchOf(tx, repo, wanted)
  await tx
    .sql<ReposTables>()
    .updateTable('repository')
    .set({
      updated_at: new Date(),
      units: JSON.stringify(unitsOf(deps.repos, repo.units as Units, wanted)),
      ...(wanted.description === undefined ? {} : { description: wanted.description }),
      ...(wanted.website === undefined ? {} : { website: wanted.website }),
      ...(wanted.template === undefined ? {} : { is_template: wanted.template }),
      ...(isPrivate === undefined ? {} : { is_private: isPrivate }),
      ...(archived === undefined ? {} : { is_archived: archived, archived_at: archived ? new Date() : null }),
      ...(branch === undefined ? {} : { default_branch: branch }),
    })
    .where('id', '=', repo.id)
    .execute()
  if (isPrivate !== undefined && isPrivate !== repo.is_private) await setPrivacy(tx, repo.id, isPrivate)
  if (archived !== undefined && archived !== repo.is_archived) {
    await tx.publish(RepositoryArchived, { repositoryId: repo.id, archived, actorId: doer.account.id })
  }
  if (branch !== undefined) await git.writeHead(deps.repos.open(repo), branch)
}

/** A fork is as private as its parent; nobody but an administrator publishes where FORCE_PRIVATE is on. */
async function privacyOf(deps: Deps, tx: Tx, repo: RepoAccess['repo'], doer: Doer, wanted: EditRepoOption) {
  if (wanted.private === undefined) return undefined
  if (repo.parent_id !== null) {
    const parent = await tx
      .sql<ReposTables>()
      .selectFrom('repository')
      .select('is_private')
      .where('id', '=', repo.parent_id)
      .executeTakeFirst()
    if (parent) return parent.is_private
  }
  if (deps.forcePrivate && repo.is_private && !wanted.private && !isSiteAdmin(doer)) {
    throw unprocessable('cannot change private repository to public')
  }
  return wanted.private
}

/** Tells of a changed visibility, and pushes it down to all forks. */
async function setPrivacy(tx: Tx, repositoryId: number, isPrivate: boolean): Promise<void> {
  await tx.publish(RepositoryVisibilityChanged, { repositoryId, isPrivate })
  await tx.publish(RepositoryAccessChanged, { repositoryId, accountId: null })
  const forks = await tx
    .sql<ReposTables>()
    .updateTable('repository')
    .set({ is_private: isPrivate })
    .where('parent_id', '=', repositoryId)
    .where('is_private', '!=', isPrivate)
    .returning('id')
    .execute()
  for (const fork of forks) await setPrivacy(tx, fork.id, isPrivate)
}

function archivedOf(repo: RepoAccess['repo'], { archived }: EditRepoOption): boolean | undefined {
  if (archived !== undefined && repo.is_mirror) throw unprocessable('repo is a mirror, cannot archive/un-archive')
  return archived
}

/** The new default branch; undefined when the key is not given or names no branch of a repository that has some. */
async function branchOf(
  tx: Tx,
  repo: RepoAccess['repo'],
  { default_branch: name }: EditRepoOption,
): Promise<string | undefined> {
  if (!name || name === repo.default_branch || !git.isBranchName(name)) return undefined
  if (repo.is_empty) return name
  const there = await tx
    .sql<ReposTables>()
    .selectFrom('git_ref')
    .select('name')
    .where('repository_id', '=', repo.id)
    .where('name', '=', `refs/heads/${name}`)
    .executeTakeFirst()
  return there && name
}

type UnitChange = { [K in keyof Units]: Units[K] | undefined }

/** The units after an edit. */
export function unitsOf(repos: Repos, now: Units, wanted: EditRepoOption): Units {
  const changes: UnitChange = {
    ...simpleUnits(repos, now, wanted),
    ...issueUnits(repos, now, wanted),
    ...wikiUnits(now, wanted),
    ...projectUnit(now, wanted),
    ...pullUnit(repos, now, wanted),
  }
  const units: Record<string, unknown> = { ...now }
  for (const [name, settings] of Object.entries(changes)) {
    if (repos.disabledUnits().has(name as keyof Units)) continue
    if (settings === undefined) delete units[name]
    else units[name] = settings
  }
  return units as Units
}

function simpleUnits(repos: Repos, now: Units, wanted: EditRepoOption): UnitChange {
  const changes: Record<string, unknown> = {}
  for (const name of ['code', 'releases', 'packages', 'actions'] as const) {
    const on = wanted[`has_${name}`]
    if (on !== undefined) changes[name] = on ? (now[name] ?? repos.unitSettings(name)) : undefined
  }
  return changes as UnitChange
}

const isHttpUrl = (text: string | undefined) => /^https?:\/\/[^\s/]+/.test(text ?? '') && URL.canParse(text ?? '')

function issueUnits(repos: Repos, now: Units, wanted: EditRepoOption): UnitChange {
  if (wanted.has_issues === undefined) return {}
  if (!wanted.has_issues) return { issues: undefined, ext_issues: undefined }
  const external = wanted.external_tracker
  if (external) {
    if (!isHttpUrl(external.external_tracker_url)) throw unprocessable('External tracker URL not valid')
    const format = external.external_tracker_format ?? ''
    if (format !== '' && !isHttpUrl(format)) throw unprocessable('External tracker URL format not valid')
    return {
      issues: undefined,
      ext_issues: {
        external_tracker_url: external.external_tracker_url ?? '',
        external_tracker_format: format,
        external_tracker_style: external.external_tracker_style || 'numeric',
        external_tracker_regexp_pattern: external.external_tracker_regexp_pattern ?? '',
      },
    }
  }
  const flags = wanted.internal_tracker
  const given = flags && {
    enable_time_tracker: flags.enable_time_tracker ?? false,
    allow_only_contributors_to_track_time: flags.allow_only_contributors_to_track_time ?? false,
    enable_issue_dependencies: flags.enable_issue_dependencies ?? false,
  }
  return { ext_issues: undefined, issues: given ?? now.issues ?? (repos.unitSettings('issues') as Units['issues']) }
}

function wikiUnits(now: Units, wanted: EditRepoOption): UnitChange {
  if (wanted.has_wiki === undefined) return {}
  if (!wanted.has_wiki) return { wiki: undefined, ext_wiki: undefined }
  if (!wanted.external_wiki) return { ext_wiki: undefined, wiki: now.wiki ?? {} }
  const url = wanted.external_wiki.external_wiki_url
  if (!isHttpUrl(url)) throw unprocessable('Invalid external wiki URL')
  return { wiki: undefined, ext_wiki: { external_wiki_url: url ?? '' } }
}

function projectUnit(now: Units, wanted: EditRepoOption): UnitChange {
  if (wanted.has_projects === undefined) return {}
  if (!wanted.has_projects) return { projects: undefined }
  const mode = wanted.projects_mode || now.projects?.mode || 'all'
  return { projects: { mode } }
}

const updateKeys = ['allow_merge_update', 'allow_rebase_update', 'default_update_style'] as const

/** Any merge setting, given while the unit is off, turns it on. */
function pullUnit(repos: Repos, now: Units, wanted: EditRepoOption): UnitChange {
  if (wanted.has_pull_requests === false) return { pulls: undefined }
  const base = now.pulls ?? (repos.unitSettings('pulls') as PullSettings)
  const given = Object.fromEntries(
    (Object.keys(base) as (keyof PullSettings)[]).flatMap((key) =>
      wanted[key] === undefined ? [] : [[key, wanted[key]]],
    ),
  ) as Partial<PullSettings>
  if (wanted.has_pull_requests === undefined && Object.keys(given).length === 0) return {}
  const settings: PullSettings = { ...base, ...given }
  if (updateKeys.some((key) => wanted[key] !== undefined)) checkUpdateStyles(settings)
  return { pulls: settings }
}

function checkUpdateStyles({
  allow_merge_update,
  allow_rebase_update,
  default_update_style: style,
}: PullSettings): void {
  if (style !== 'merge' && style !== 'rebase') throw unprocessable('default update style must be merge or rebase')
  if (!allow_merge_update && !allow_rebase_update) {
    throw unprocessable('at least one pull request branch update style must be enabled')
  }
  if (!(style === 'merge' ? allow_merge_update : allow_rebase_update)) {
    throw unprocessable('default update style must be enabled')
  }
}
