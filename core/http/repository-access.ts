import { type Actor, authorize, Identity } from '../identity/index.ts'
import { type RepoAccess, Repos, type UnitName } from '../repos/index.ts'
import { type ByAccount, signedInAccount } from './access.ts'
import { forbidden, locked, notFound } from './problems.ts'
import { type Access, type Approach, Redirect } from './route.ts'
import { Type } from './schema.ts'

/** Path parameters of every route about a repository. */
export const RepositoryPath = Type.Object({
  owner: Type.String({ description: 'Name of the owner.' }),
  repo: Type.String({ description: 'Name of the repository.' }),
})

/** What a handler of a repository route finds. */
export type InRepository = { readonly repo: RepoAccess }

type Rule = {
  readonly action: 'read' | 'write' | 'admin' | 'owner'
  readonly unit?: UnitName
  /** Which text an archived repository (and for `edit` a mirror, too) answers with 423. */
  readonly frozen?: 'archived' | 'edit'
}
type Frozen = Pick<Rule, 'frozen'>

/** Who may call a route about `{owner}/{repo}`. */
export const repository = {
  /** Whoever may read the repository, or the unit when one is named. */
  read: (unit?: UnitName): Access<InRepository> => byAnybody({ action: 'read', ...(unit ? { unit } : {}) }),
  /** The same, but signed in. */
  readSignedIn: (unit?: UnitName) => bySignedIn({ action: 'read', ...(unit ? { unit } : {}) }),
  /** Signed in, with write access to the unit. */
  write: (unit: UnitName, also: Frozen = {}) => bySignedIn({ action: 'write', unit, ...also }),
  /** Signed in, and an administrator of the repository. */
  admin: (also: Frozen = {}) => bySignedIn({ action: 'admin', ...also }),
  /** Signed in, and an owner: a mere administrator of the repository is refused. */
  owner: (also: Frozen = {}) => bySignedIn({ action: 'owner', ...also }),
}

const nameOf = (rule: Rule, who: string) =>
  ['repository', rule.action, rule.unit, who, rule.frozen].filter(Boolean).join(' ')

function byAnybody(rule: Rule): Access<InRepository> {
  return {
    name: nameOf(rule, ''),
    refusals: rule.unit ? [403, 404] : [404],
    async admit(approach) {
      const repo = await repositoryOf(approach)
      permit(rule, approach.actor, repo)
      return { repo }
    },
  }
}

function bySignedIn(rule: Rule): Access<InRepository & ByAccount> {
  return {
    name: nameOf(rule, 'signed in'),
    refusals: [401, ...(rule.unit || rule.action !== 'read' ? [403] : []), 404, ...(rule.frozen ? [423] : [])],
    async admit(approach) {
      const repo = await repositoryOf(approach)
      const me = signedInAccount(approach)
      permit(rule, approach.actor, repo)
      return { repo, me }
    },
  }
}

/** The repository that the path names; a hidden one looks missing, an old name redirects. */
export async function repositoryOf({ actor, params, url, service }: Approach): Promise<RepoAccess> {
  const { owner = '', repo = '' } = params
  const found = await service(Repos).find(actor, owner, repo)
  if (found.kind === 'found') return found.access
  if (found.kind === 'moved') throw new Redirect(301, movedUrl(url, [owner, repo], [found.owner, found.name]))
  const account = await service(Identity).findVisible(actor, owner)
  if (account.kind === 'moved') throw new Redirect(307, movedUrl(url, [owner], [account.name]))
  throw notFound()
}

/** `url` with the first run of path segments that spell `from` replaced by `to`. */
export function movedUrl(url: string, from: readonly string[], to: readonly string[]): string {
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const segments = path.split('/')
  const at = segments.findIndex((_, i) => from.every((name, k) => same(segments[i + k], name)))
  if (at >= 0) segments.splice(at, from.length, ...to.map(encodeURIComponent))
  // One slash at the front: with two, the name behind them would be read as a host.
  return `/${segments.join('/').replace(/^\/+/, '')}${mark < 0 ? '' : url.slice(mark)}`
}

function same(segment: string | undefined, name: string): boolean {
  if (segment === undefined) return false
  try {
    return decodeURIComponent(segment).toLowerCase() === name.toLowerCase()
  } catch {
    return false
  }
}

function permit(rule: Rule, actor: Actor, access: RepoAccess): void {
  const verdict = authorize(actor, rule.action, access, rule.unit)
  if (!verdict.ok) throw verdict.answer === 'hidden' ? notFound() : forbidden(verdict.message)
  const { repo } = access
  if (rule.frozen === 'archived' && repo.is_archived) throw locked()
  if (rule.frozen === 'edit' && (repo.is_archived || repo.is_mirror)) throw locked('repo is not allowed to edit')
}
