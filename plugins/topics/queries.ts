import { sql } from 'kysely'
import { type Database, readPage, type TablesOf, type Tx, type Window } from '#core/db'
import type { Actor } from '#core/identity'
import { type ReposTables, visibleTo } from '#core/repos'
import type { RepositoryTopic, Topic } from './entities.ts'
import { mostTopics, tooManyTopics } from './names.ts'

export type Tables = ReposTables & TablesOf<typeof Topic | typeof RepositoryTopic>

/** A page of the topics of a repository, by name. */
export function topicsOf(db: Database, repositoryId: number, window: Window) {
  const query = db
    .sql<Tables>()
    .selectFrom('repository_topic')
    .innerJoin('topic', 'topic.id', 'repository_topic.topic_id')
    .select('topic.name')
    .where('repository_topic.repository_id', '=', repositoryId)
    .orderBy('topic.name')
  return readPage(query, window)
}

/**
 * Topics that hold a text, most used first. Only repositories that `actor` may see count; topics of others stay out, and
 * so do those that nobody uses any more: they may come from a private repository.
 */
export function searchTopics(db: Database, actor: Actor, text: string, window: Window) {
  const query = db
    .sql<Tables>()
    .selectFrom('topic')
    .leftJoin('repository_topic', 'repository_topic.topic_id', 'topic.id')
    .leftJoin(
      (eb) =>
        eb
          .selectFrom('repository')
          .innerJoin('account as owner', 'owner.id', 'repository.owner_id')
          .where(visibleTo(actor) as never)
          .select('repository.id as visible_id')
          .as('visible'),
      (join) => join.onRef('visible.visible_id', '=', 'repository_topic.repository_id'),
    )
    .where('topic.name', 'like', `%${text.replace(/[\\%_]/g, '\\$&')}%`)
    .groupBy('topic.id')
    .having(sql<boolean>`count(visible.visible_id) > 0`)
    .select(['topic.id', 'topic.name', 'topic.created_at', 'topic.updated_at'])
    .select(sql<number>`count(visible.visible_id)`.as('repo_count'))
    .orderBy('repo_count', 'desc')
    .orderBy('topic.id')
  return readPage(query, window)
}

/** Holds the repository, so that two changes of its topics come one after the other. */
async function lock(tx: Tx, repositoryId: number): Promise<void> {
  await tx.sql<Tables>().selectFrom('repository').select('id').where('id', '=', repositoryId).forUpdate().execute()
}

/** Gives a repository exactly these topics. */
export async function replaceTopics(tx: Tx, repositoryId: number, names: readonly string[]): Promise<void> {
  await lock(tx, repositoryId)
  const ids = await topicIds(tx, names)
  const stale = tx.sql<Tables>().deleteFrom('repository_topic').where('repository_id', '=', repositoryId)
  await (ids.length > 0 ? stale.where('topic_id', 'not in', ids) : stale).execute()
  await link(tx, repositoryId, ids)
}

/** Adds a topic. Throws a Problem when the repository has as many as it may. */
export async function addTopic(tx: Tx, repositoryId: number, name: string): Promise<void> {
  await lock(tx, repositoryId)
  await link(tx, repositoryId, await topicIds(tx, [name]))
  const { count } = await tx
    .sql<Tables>()
    .selectFrom('repository_topic')
    .where('repository_id', '=', repositoryId)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count > mostTopics) throw tooManyTopics()
}

/** Removes a topic; false when the repository did not have it. */
export async function removeTopic(tx: Tx, repositoryId: number, name: string): Promise<boolean> {
  const gone = await tx
    .sql<Tables>()
    .deleteFrom('repository_topic')
    .where('repository_id', '=', repositoryId)
    .where('topic_id', 'in', (eb) => eb.selectFrom('topic').select('id').where('name', '=', name))
    .executeTakeFirst()
  return gone.numDeletedRows > 0n
}

/** Ids of topics, made where they are new. In order of their names, so that two writers never wait for each other. */
async function topicIds(tx: Tx, names: readonly string[]): Promise<number[]> {
  if (names.length === 0) return []
  const rows = await tx
    .sql<Tables>()
    .insertInto('topic')
    .values([...names].sort().map((name) => ({ name })))
    .onConflict((on) => on.column('name').doUpdateSet({ updated_at: new Date() }))
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

async function link(tx: Tx, repositoryId: number, topics: readonly number[]): Promise<void> {
  if (topics.length === 0) return
  await tx
    .sql<Tables>()
    .insertInto('repository_topic')
    .values(topics.map((topic_id) => ({ repository_id: repositoryId, topic_id })))
    .onConflict((on) => on.doNothing())
    .execute()
}
