import type { Actor } from '../identity/index.ts'
import { point } from '../plugin/index.ts'
import type { RepoAccess } from './access.ts'

/** One ref that somebody wants to move: full name, and where from and to. Null: it does not exist on that side. */
export type WantedChange = { readonly ref: string; readonly from: string | null; readonly to: string | null }

/** In whose name, in which repository. */
export type ChangeBy = { readonly access: RepoAccess; readonly actor: Actor }

/** Why a ref may not move. */
export type RefRefusal = {
  /** For the person who pushes: `branch main is protected from deletion`. */
  readonly message: string
  /** `push`: then nothing of a push happens; `ref`: only this ref stays. */
  readonly scope: 'push' | 'ref'
}

/** A rule about refs, beyond the right to write. Asked for every ref of a push and for every change by the API. */
export type RefRule = {
  readonly name: string
  judge(change: WantedChange, by: ChangeBy): Promise<RefRefusal | undefined> | RefRefusal | undefined
}
export const RefRules = point<RefRule>('repos.ref-rules')

/** What holds in every repository. */
const standing: readonly RefRule[] = [
  {
    name: 'the default branch stays',
    judge({ ref, to }, { access }) {
      const branch = access.repo.default_branch
      if (to !== null || ref !== `refs/heads/${branch}` || access.repo.is_empty) return undefined
      return { message: `branch ${branch} is the default branch and cannot be deleted`, scope: 'push' }
    },
  },
  {
    name: 'refs of pull requests are moved by the host',
    judge: ({ ref }) =>
      ref.startsWith('refs/pull/') ? { message: `${ref} is moved by the host alone`, scope: 'ref' } : undefined,
  },
]

/** Judges changes of refs, in their order: undefined for each that may happen. */
export function judgeRefs(
  rules: readonly RefRule[],
  changes: readonly WantedChange[],
  by: ChangeBy,
): Promise<(RefRefusal | undefined)[]> {
  return Promise.all(changes.map((change) => judgeRef([...standing, ...rules], change, by)))
}

async function judgeRef(rules: readonly RefRule[], change: WantedChange, by: ChangeBy) {
  for (const rule of rules) {
    const refusal = await rule.judge(change, by)
    if (refusal) return refusal
  }
  return undefined
}
