import { type Access, type Approach, forbidden, movedUrl, notFound, Redirect, unauthorized } from '#core/http'
import { authorize, Identity, identityConfig, scopeRefusal } from '#core/identity'
import { type RepoAccess, Repos } from '#core/repos'
import type { GitHttpUse } from './needs.ts'

/** What the handler of a git route finds. */
export type ForGit = { readonly repo: RepoAccess }
export type GitAction = 'fetch' | 'push'

/** The name of a repository in a path of git: with or without `.git`. */
const withoutSuffix = (name: string) => name.replace(/\.git$/i, '')

/**
 * Who may fetch or push. A reader may open a push: what he may not write is refused ref by ref, in git's own words,
 * because some refs take contributions of readers.
 *
 * @param actionOf what the request is about to do; undefined when it names no service of git
 */
export function gitAccess(use: GitHttpUse, actionOf: (approach: Approach) => GitAction | undefined): Access<ForGit> {
  return {
    name: 'git',
    refusals: [401, 403, 404],
    async admit(approach) {
      const { actor } = approach
      const action = actionOf(approach) ?? 'fetch'
      const signIn = use.config.get('service', identityConfig.service).REQUIRE_SIGNIN_VIEW
      if (!actor.account && (signIn || action === 'push')) throw unauthorized('Unauthorized')
      const refused = scopeRefusal(actor, ['repository'], action === 'push' ? 'write' : 'read')
      if (refused) throw forbidden(refused)
      const repo = await findRepository(approach, action)
      const verdict = authorize(actor, 'read', repo, 'code')
      if (!verdict.ok && !actor.account) throw unauthorized('Unauthorized')
      if (!verdict.ok) throw verdict.answer === 'hidden' ? notFound('Repository not found') : forbidden(verdict.message)
      if (action === 'push') refuseFrozen(repo)
      return { repo }
    },
  }
}

async function findRepository({ actor, params, url, service }: Approach, action: GitAction): Promise<RepoAccess> {
  const owner = params.owner ?? ''
  const written = params.repo ?? ''
  const name = withoutSuffix(written)
  const found = await service(Repos).find(actor, owner, name)
  if (found.kind === 'found') return found.access
  if (found.kind === 'moved') throw new Redirect(301, movedUrl(url, [owner, written], [found.owner, found.name]))
  const account = await service(Identity).findVisible(actor, owner)
  if (account.kind === 'moved') throw new Redirect(307, movedUrl(url, [owner], [account.name]))
  // Anonymous callers are asked who they are: that tells nothing of what exists.
  if (!actor.account) throw unauthorized('Unauthorized')
  if (action === 'push' && account.kind === 'found') throw forbidden('Push to create is not enabled for users.')
  throw notFound('Repository not found')
}

function refuseFrozen({ repo }: RepoAccess): void {
  if (repo.is_mirror) throw forbidden('mirror repository is read-only')
  if (!repo.is_archived) return
  throw forbidden(
    'This repo is archived. You can view files and clone it, but cannot push or open issues/pull-requests.',
  )
}
