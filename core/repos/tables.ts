import type { Selectable } from 'kysely'
import type { TablesOf } from '../db/index.ts'
import type { IdentityTables } from '../identity/index.ts'
import type { Collaborator, GitRef, GitWrite, Repository, RepositoryRedirect } from './entities.ts'

/** Tables of this room and of identity, for Kysely. */
export type ReposTables = IdentityTables &
  TablesOf<typeof Repository | typeof RepositoryRedirect | typeof Collaborator | typeof GitRef | typeof GitWrite>

export type RepositoryRow = Selectable<ReposTables['repository']>
export type GitRefRow = Selectable<ReposTables['git_ref']>

/** Columns of `repository`, for selects that join. */
export const repositoryColumns = [
  'id',
  'owner_id',
  'name',
  'lower_name',
  'description',
  'website',
  'is_private',
  'is_template',
  'is_archived',
  'archived_at',
  'is_empty',
  'is_mirror',
  'original_url',
  'parent_id',
  'default_branch',
  'object_format',
  'trust_model',
  'git_size',
  'language',
  'licenses',
  'avatar',
  'units',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof RepositoryRow)[]
