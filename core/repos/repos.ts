import { join } from 'node:path'
import type { Database, Presenters } from '../db/index.ts'
import type { Actor } from '../identity/index.ts'
import { service } from '../plugin/index.ts'
import type { ReposConfig } from './config.ts'
import type { Git, GitRepo } from './git/index.ts'
import * as git from './git/index.ts'
import { createListing, type Listing, type Viewer } from './listing.ts'
import { createLookup } from './lookup.ts'
import { type UnitDefaults, type UnitName, type Units, unitNamed, unitSettings } from './units.ts'
import { type CurrentRef, createWrites, type RefReader, type Writes } from './writes.ts'

/** Repositories, as every part of the host meets them. */
export type Repos = ReturnType<typeof createLookup> & {
  readonly listing: Listing
  readonly writes: Writes
  /** The git data of a repository, for the functions of git/. */
  open(repo: { readonly id: number }): GitRepo
  /** Where a repository lies on disk: by its id, never by a name. */
  gitDir(repo: { readonly id: number }): string
  /** Units that are off for the whole host. */
  disabledUnits(): ReadonlySet<UnitName>
  /** Units of a new repository of a kind, with their default settings. */
  newUnits(kind: 'normal' | 'template'): Units
  /** Default settings of one unit. */
  unitSettings(name: UnitName): object
  /** Somebody who looks at records over an address; `base` has no trailing slash. */
  viewer(actor: Actor, base: string): Viewer
}

export const Repos = service<Repos>('repos.repos')

export type ReposOptions = {
  readonly db: Database
  readonly presenters: Presenters
  readonly config: ReposConfig & { readonly server: { readonly DOMAIN: string; readonly ROOT_URL: string } }
  /** Folder that holds all repositories. */
  readonly folder: string
  readonly git: Git
  /** Domain of the addresses of those who hide theirs. */
  readonly noReplyDomain: () => string
}

/** When something was made, as far as its text is a time: histories of strangers hold anything. */
function timeOf(date: string | undefined): Date {
  const time = new Date(date ?? 0)
  return Number.isNaN(time.getTime()) ? new Date(0) : time
}

/** Characters of a message that are kept beside its ref. */
const longestMessage = 32_768
/** Objects of strangers that are held in memory at once; each has up to four megabytes. */
const factsAtOnce = 20

/** A commit or tag as it is kept beside its ref: of one that is too long, the beginning and without its signature. */
function brief<T extends git.CommitFacts | git.TagFacts>(facts: T): T {
  const { message, signature = '', payload = '' } = facts
  if (Math.max(message.length, signature.length, payload.length) <= longestMessage) return facts
  const { signature: _, payload: __, ...rest } = facts
  // A copy: a mere slice would keep the whole text in memory.
  return { ...rest, message: Buffer.from(message.slice(0, longestMessage)).toString() } as T
}

function currentRef({ name, objectId, objectType, peeledId, commit, tag }: git.RefWithFacts): CurrentRef {
  return {
    name,
    objectId,
    objectType,
    commitId: peeledId,
    committedAt: timeOf(tag?.tagger?.date ?? commit?.committer.date),
    facts: { ...(commit ? { commit: brief(commit) } : {}), ...(tag ? { tag: brief(tag) } : {}) },
  }
}

/** Reads refs with the facts that git_ref keeps. */
const refReader = (open: (path: string) => GitRepo): RefReader => ({
  list: async (gitDir, names) =>
    names
      ? [...(await git.readRefs(open(gitDir), names)).values()]
      : git.listRefs(open(gitDir), { prefixes: ['refs/heads/', 'refs/tags/'] }),
  async read(gitDir, refs) {
    const repo = open(gitDir)
    const current: CurrentRef[] = []
    for (let i = 0; i < refs.length; i += factsAtOnce) {
      current.push(...(await git.readRefFacts(repo, refs.slice(i, i + factsAtOnce))).map(currentRef))
    }
    return current
  },
  setHead: (gitDir, branch) => git.writeHead(open(gitDir), branch),
  head: (gitDir) => git.readHead(open(gitDir)),
})

/** Builds the room's service. Changed configuration is read at the next call of each function. */
export function createRepos({ db, presenters, config, folder, git: processes, noReplyDomain }: ReposOptions): Repos {
  const named = (names: readonly string[]) => new Set(names.flatMap((name) => unitNamed(name) ?? []))
  const disabled = named(config.repository.DISABLED_REPO_UNITS)
  const defaults: UnitDefaults = {
    mergeStyle: config['repository.pull-request'].DEFAULT_MERGE_STYLE,
    deleteBranchAfterMerge: config['repository.pull-request'].DEFAULT_DELETE_BRANCH_AFTER_MERGE,
    timeTracker: config.service.DEFAULT_ENABLE_TIMETRACKING,
    onlyContributorsTrackTime: config.service.DEFAULT_ALLOW_ONLY_CONTRIBUTORS_TO_TRACK_TIME,
    dependencies: config.service.DEFAULT_ENABLE_DEPENDENCIES,
  }
  const kinds = {
    normal: named(config.repository.DEFAULT_REPO_UNITS),
    template: named(config.repository.DEFAULT_TEMPLATE_REPO_UNITS),
  }
  // Folders of a thousand each keep directories small; the id alone decides, so a rename moves nothing.
  const gitDir = ({ id }: { readonly id: number }) => join(folder, String(Math.floor(id / 1000)), `${id}.git`)
  const root = config.server.ROOT_URL.replace(/\/+$/, '')
  const { SSH_DOMAIN, SSH_PORT, SSH_USER, DOMAIN } = { ...config.server }
  const sshHost = SSH_DOMAIN || DOMAIN

  const sshUrl = (fullName: string) => {
    if (SSH_PORT !== 22) return `ssh://${SSH_USER}@${sshHost}:${SSH_PORT}/${fullName}.git`
    if (config.repository.USE_COMPAT_SSH_URI) return `ssh://${SSH_USER}@${sshHost}/${fullName}.git`
    return `${SSH_USER}@${sshHost}:${fullName}.git`
  }

  return {
    ...createLookup(db, () => disabled),
    listing: createListing(db, presenters, () => disabled),
    writes: createWrites(db, gitDir, refReader(processes.open)),
    gitDir,
    open: (repo) => processes.open(gitDir(repo)),
    disabledUnits: () => disabled,
    newUnits: (kind) =>
      Object.fromEntries(
        [...kinds[kind]].filter((name) => !disabled.has(name)).map((name) => [name, unitSettings(name, defaults)]),
      ),
    unitSettings: (name) => unitSettings(name, defaults),
    viewer: (actor, base) => ({ actor, links: { base, root, ssh: sshUrl, noReply: noReplyDomain() } }),
  }
}
