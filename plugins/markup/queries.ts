import type { Database } from '#core/db'
import type { Actor, Identity, IdentityTables } from '#core/identity'

/** Which of these lower-case names belong to accounts that somebody can see, in one query. */
export async function knownPeople(
  db: Database,
  identity: Identity,
  viewer: Actor,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set()
  const found = await db
    .sql<IdentityTables>()
    .selectFrom('account')
    .select('lower_name')
    .where('lower_name', 'in', names)
    .where(identity.visibility.condition(viewer))
    .execute()
  return new Set(found.map((row) => row.lower_name))
}
