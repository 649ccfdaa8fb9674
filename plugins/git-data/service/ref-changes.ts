import { conflict, forbidden, type Problem } from '#core/http'
import type { Actor } from '#core/identity'
import { git, judgeRefs, type RefRename, type RepoAccess, type WantedChange } from '#core/repos'
import type { GitDataUse } from '../needs.ts'

/** Who changes refs, and where. */
export type ChangeBy = { readonly actor: Actor; readonly access: RepoAccess }

/** Mirrors follow their source and nobody else. */
export function refuseMirror({ repo }: RepoAccess): void {
  if (repo.is_mirror) throw forbidden('Git Repository is a mirror.')
}

/** Throws when a rule is against one of the changes. */
export async function judge(
  use: GitDataUse,
  changes: readonly WantedChange[],
  by: ChangeBy,
  refuse: (message: string) => Problem = forbidden,
): Promise<void> {
  const refusal = (await judgeRefs(use.rules, changes, by)).find((verdict) => verdict !== undefined)
  if (refusal) throw refuse(refusal.message)
}

export type HowToChange = {
  /** What the 409 says when somebody else was faster. */
  readonly clash?: (error: git.RefConflict) => string
  /** Runs just ahead of the change, */
  readonly before?: () => Promise<void>
  /** and this when the change then failed. */
  readonly undo?: () => Promise<void>
  /** For listeners: the changes together give a branch another name. */
  readonly renamed?: RefRename
}

/**
 * Moves refs, all or none, and returns when PostgreSQL knows of it.
 *
 * @throws Problem 409 where somebody else was faster
 */
export async function changeRefs(
  use: GitDataUse,
  { access, actor }: ChangeBy,
  updates: readonly git.RefUpdate[],
  { clash = ({ message }) => message, before, undo, renamed }: HowToChange = {},
): Promise<void> {
  const repo = use.repos.open(access.repo)
  try {
    await use.repos.writes.run(access.repo, actor.account?.id ?? null, async () => {
      await before?.()
      try {
        await git.updateRefs(repo, updates)
      } catch (error) {
        await undo?.()
        throw error
      }
      return { names: updates.map(({ ref }) => ref), result: undefined, ...(renamed ? { renamed } : {}) }
    })
  } catch (error) {
    if (error instanceof git.RefConflict) throw conflict(clash(error))
    throw error
  }
}
