import { event } from '../plugin/index.ts'

/** Facts about repositories that other parts of the host hear. Ids only: listeners read what they need. */
export const RepositoryCreated = event<{ repositoryId: number; ownerId: number; actorId: number }>('repository.created')
export const RepositoryRenamed = event<{ repositoryId: number; oldName: string; actorId: number }>('repository.renamed')
/** Visibility or owner changed, or a person lost a role: whoever keeps things for viewers drops what is hidden now. */
export const RepositoryAccessChanged = event<{ repositoryId: number; accountId: number | null }>(
  'repository.access-changed',
)
/** Inside the transaction that deletes: listeners delete their rows of it, or veto with a Refusal. */
export const RepositoryDeleting = event<{ repositoryId: number; actorId: number | null }>('repository.deleting')
export const RepositoryDeleted = event<{
  repositoryId: number
  ownerId: number
  name: string
  avatar: string | null
  actorId: number | null
}>('repository.deleted')

/** One moved ref. Object ids are hex; null where the ref did not exist before or does not any more. */
export type RefChange = { readonly name: string; readonly before: string | null; readonly after: string | null }

/** A ref that got another name; both full. */
export type RefRename = { readonly from: string; readonly to: string }

/** Branches or tags moved: by git push or through the API. Published with the rows that record it. */
export const Pushed = event<{
  repositoryId: number
  actorId: number | null
  changes: RefChange[]
  /** The branch that became the default one with this push, if any. */
  newDefaultBranch: string | null
  /** Set when a branch only got another name: what `changes` tells of both names is one move. */
  renamed?: RefRename
}>('repository.pushed')

export const RepositoryVisibilityChanged = event<{ repositoryId: number; isPrivate: boolean }>(
  'repository.visibility-changed',
)
export const RepositoryArchived = event<{ repositoryId: number; archived: boolean; actorId: number }>(
  'repository.archived',
)
