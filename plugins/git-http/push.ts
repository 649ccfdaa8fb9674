import type { Readable } from 'node:stream'
import { type Actor, authorize } from '#core/identity'
import { git, judgeRefs, type RepoAccess } from '#core/repos'
import type { GitHttpUse } from './needs.ts'

/** Who pushes where, and in which version of the protocol. */
export type PushBy = { readonly actor: Actor; readonly access: RepoAccess; readonly protocol: string | undefined }

/**
 * Receives a push. Rights and rules are judged before git runs, and the client hears of success only when PostgreSQL
 * has recorded what moved.
 */
export function receivePush(
  { repos, rules }: Pick<GitHttpUse, 'repos' | 'rules'>,
  body: Readable,
  by: PushBy,
): Readable {
  const { actor, access, protocol } = by
  let write: Awaited<ReturnType<typeof repos.writes.begin>> | undefined
  return git.receivePack(repos.open(access.repo), body, {
    protocol,
    async check({ commands }) {
      if (!authorize(actor, 'write', access, 'code').ok) {
        return commands.map(() => ({ accept: false, message: 'User permission denied for writing.' }))
      }
      const refusals = await judgeRefs(rules, commands, { access, actor })
      if (!refusals.every(Boolean)) write = await repos.writes.begin(access.repo, actor.account?.id ?? null)
      return refusals.map((refusal) => (refusal ? { accept: false, ...refusal } : { accept: true }))
    },
    async landed(results) {
      await write?.settle(results.filter((result) => result.ok).map((result) => result.ref))
      return undefined
    },
  })
}
