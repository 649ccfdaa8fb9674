import { conflict, forbidden, type Problem } from '#core/http'
import type { Actor } from '#core/identity'
import { git, judgeRefs, type RepoAccess, type WantedChange } from '#core/repos'
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

/**
 * Moves refs, all or none, and returns when PostgreSQL knows of it. `before` runs just ahead, `undo` when the move
 * failed after it.
 *
 * @throws Problem 409 with the text of `clash` where somebody else was faster
 */
export async function changeRefs(
  use: GitDataUse,
  { access, actor }: ChangeBy,
  updates: readonly git.RefUpdate[],
  clash: (error: git.RefConflict) => string = (error) => error.message,
  around: { readonly before?: () => Promise<void>; readonly undo?: () => Promise<void> } = {},
): Promise<void> {
  const repo = use.repos.open(access.repo)
  try {
    await use.repos.writes.run(access.repo, actor.account?.id ?? null, async () => {
      await around.before?.()
      try {
        await git.updateRefs(repo, updates)
      } catch (error) {
        await around.undo?.()
        throw error
      }
      return { names: updates.map(({ ref }) => ref), result: undefined }
    })
  } catch (error) {
    if (error instanceof git.RefConflict) throw conflict(clash(error))
    throw error
  }
}
