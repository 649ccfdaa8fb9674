import type { Database, Tx } from '../db/index.ts'
import { Pushed, type RefChange, type RefRename } from './events.ts'
import { isBranchName, type Ref } from './git/index.ts'
import type { RepositoryRow, ReposTables } from './tables.ts'

/** A branch or tag as git has it now; the columns of git_ref. */
export type CurrentRef = {
  readonly name: string
  readonly objectId: string
  readonly objectType: string
  readonly commitId: string
  readonly committedAt: Date
  readonly facts: object
}

/** What this file needs of git. */
export type RefReader = {
  /** Branches and tags under full names; those that do not exist are left out. Without names: all. */
  list(gitDir: string, names?: readonly string[]): Promise<Ref[]>
  /** What they say: a few at a time, for each may say megabytes. */
  read(gitDir: string, refs: readonly Ref[]): Promise<CurrentRef[]>
  setHead(gitDir: string, branch: string): Promise<void>
  /** The branch that HEAD names, which need not exist. */
  head(gitDir: string): Promise<string | undefined>
}

/** Refs that are read and written at once. */
const refsAtOnce = 100

/** PostgreSQL keeps no NUL, and objects that strangers made may hold some. */
const factsText = (facts: object) =>
  JSON.stringify(facts, (_, value: unknown) => (typeof value === 'string' ? value.replaceAll('\0', '') : value))

const isListed = (name: string) => name.startsWith('refs/heads/') || name.startsWith('refs/tags/')
const branchOf = (name: string) => (name.startsWith('refs/heads/') ? name.slice('refs/heads/'.length) : undefined)

/**
 * Writes to git that PostgreSQL must know of. A write is announced by a row in git_write, then git moves refs, then
 * one transaction records the refs, the repository's state and the event, and removes the announcement.
 * What a crash cuts off in between is found by `recover` at the next start.
 */
export function createWrites(db: Database, gitDir: (repo: { id: number }) => string, refs: RefReader) {
  const announce = async (repo: RepositoryRow, actorId: number | null): Promise<number> => {
    const row = await db.tx((tx) =>
      tx
        .sql<ReposTables>()
        .insertInto('git_write')
        .values({ repository_id: repo.id, actor_id: actorId })
        .returning('id')
        .executeTakeFirstOrThrow(),
    )
    return row.id
  }

  /** Makes git_ref equal to git for `names`, or for all refs without names. Returns what differed. */
  const record = async (tx: Tx, repositoryId: number, actorId: number | null, names?: readonly string[]) => {
    const sql = tx.sql<ReposTables>()
    const listed = names?.filter(isListed)
    if (listed?.length === 0) return []
    const now = await refs.list(gitDir({ id: repositoryId }), listed)
    let known = sql.selectFrom('git_ref').select(['name', 'object_id']).where('repository_id', '=', repositoryId)
    if (listed) known = known.where('name', 'in', listed)
    const before = new Map((await known.execute()).map((row) => [row.name, row.object_id]))
    const changes: RefChange[] = []
    for (const ref of now) {
      const old = before.get(ref.name) ?? null
      before.delete(ref.name)
      if (old !== ref.objectId) changes.push({ name: ref.name, before: old, after: ref.objectId })
    }
    for (const [name, old] of before) changes.push({ name, before: old, after: null })
    const gone = [...before.keys()]
    if (gone.length > 0) {
      await sql.deleteFrom('git_ref').where('repository_id', '=', repositoryId).where('name', 'in', gone).execute()
    }
    const moved = new Set(changes.map((change) => change.name))
    await upsert(
      tx,
      repositoryId,
      actorId,
      now.filter((ref) => moved.has(ref.name)),
    )
    return changes
  }

  const upsert = async (tx: Tx, repositoryId: number, actorId: number | null, moved: readonly Ref[]) => {
    // A push of ten thousand refs must not become one statement with a hundred thousand parameters.
    for (let i = 0; i < moved.length; i += refsAtOnce) {
      const now = await refs.read(gitDir({ id: repositoryId }), moved.slice(i, i + refsAtOnce))
      await tx
        .sql<ReposTables>()
        .insertInto('git_ref')
        .values(
          now.map((ref) => ({
            repository_id: repositoryId,
            name: ref.name,
            object_id: ref.objectId,
            object_type: ref.objectType,
            commit_id: ref.commitId,
            committed_at: ref.committedAt,
            facts: factsText(ref.facts),
            updated_by_id: actorId,
          })),
        )
        .onConflict((on) =>
          on.columns(['repository_id', 'name']).doUpdateSet((eb) => ({
            object_id: eb.ref('excluded.object_id'),
            object_type: eb.ref('excluded.object_type'),
            commit_id: eb.ref('excluded.commit_id'),
            committed_at: eb.ref('excluded.committed_at'),
            facts: eb.ref('excluded.facts'),
            updated_by_id: eb.ref('excluded.updated_by_id'),
          })),
        )
        .execute()
    }
  }

  /** The branch that must become the default one because the stored one does not exist. */
  const adoptedBranch = async (tx: Tx, repo: RepositoryRow, changes: readonly RefChange[]): Promise<string | null> => {
    const existing = async (names: readonly string[]) => {
      const full = names.map((name) => `refs/heads/${name}`)
      const rows = await tx
        .sql<ReposTables>()
        .selectFrom('git_ref')
        .select('name')
        .where('repository_id', '=', repo.id)
        .where('name', 'in', full)
        .execute()
      const have = new Set(rows.map((row) => branchOf(row.name)))
      return names.filter((name) => have.has(name))
    }
    if ((await existing([repo.default_branch])).length > 0) return null
    const firstPushed = repo.is_empty
      ? changes.flatMap((change) => (change.after ? (branchOf(change.name) ?? []) : [])).find(isBranchName)
      : undefined
    if (firstPushed !== undefined) return firstPushed
    // HEAD is ahead of the record when the default branch got another name.
    const head = await refs.head(gitDir(repo))
    return (await existing([...(head === undefined ? [] : [head]), 'main', 'master']))[0] ?? null
  }

  /** The account with that id, unless it was deleted while its push was under way. */
  const stillThere = async (tx: Tx, accountId: number | null): Promise<number | null> => {
    if (accountId === null) return null
    const accounts = tx.sql<ReposTables>().selectFrom('account').select('id').where('id', '=', accountId)
    return (await accounts.forKeyShare().executeTakeFirst())?.id ?? null
  }

  /** Records in one transaction what git has, and publishes the push. `names` as for `record`. */
  const settle = (
    repositoryId: number,
    doerId: number | null,
    writeIds: readonly number[],
    names?: readonly string[],
    renamed?: RefRename,
  ) =>
    db.tx(async (tx) => {
      const sql = tx.sql<ReposTables>()
      // The lock makes settling one after the other: each reads git after the one before it was recorded.
      const repo = await sql
        .selectFrom('repository')
        .selectAll()
        .where('id', '=', repositoryId)
        .forUpdate()
        .executeTakeFirst()
      if (!repo) return { changes: [], newDefaultBranch: null }
      const actorId = await stillThere(tx, doerId)
      const changes = await record(tx, repositoryId, actorId, names)
      if (writeIds.length > 0)
        await sql
          .deleteFrom('git_write')
          .where('id', 'in', [...writeIds])
          .execute()
      if (changes.length === 0) return { changes, newDefaultBranch: null }
      const branch = await adoptedBranch(tx, repo, changes)
      const pushedBranch = changes.some((change) => change.after !== null && branchOf(change.name) !== undefined)
      await sql
        .updateTable('repository')
        .set({
          updated_at: new Date(),
          ...(branch === null ? {} : { default_branch: branch }),
          ...(pushedBranch ? { is_empty: false } : {}),
        })
        .where('id', '=', repositoryId)
        .execute()
      if (branch !== null) await refs.setHead(gitDir(repo), branch)
      const newDefaultBranch = branch
      await tx.publish(Pushed, { repositoryId, actorId, changes, newDefaultBranch, ...(renamed ? { renamed } : {}) })
      return { changes, newDefaultBranch }
    })

  return {
    /**
     * Runs `write`, which moves refs in git and answers their full names, and returns when PostgreSQL agrees.
     * When `write` throws, refs that it may have moved before are recorded all the same.
     * `renamed` tells listeners that a branch only got another name.
     */
    async run<T>(
      repo: RepositoryRow,
      actorId: number | null,
      write: () => Promise<{ names: readonly string[]; result: T; renamed?: RefRename }>,
    ): Promise<T> {
      const id = await announce(repo, actorId)
      try {
        const { names, result, renamed } = await write()
        await settle(repo.id, actorId, [id], names, renamed)
        return result
      } catch (error) {
        await settle(repo.id, actorId, [id])
        throw error
      }
    },
    /** Announces a write whose end comes elsewhere (a git push); call the answer with the names that moved. */
    async begin(repo: RepositoryRow, actorId: number | null) {
      const id = await announce(repo, actorId)
      return { settle: (names?: readonly string[]) => settle(repo.id, actorId, [id], names) }
    },
    /** Records everything of a repository that was filled without `run`, for example by a copy. */
    settleAll: (repo: RepositoryRow, actorId: number | null) => settle(repo.id, actorId, []),
    /**
     * Settles what a crash left behind. A write that still runs in another process is settled once more when it
     * ends, so looking at it early does no harm; its announcement stays unless it began before `expired`.
     *
     * @param failed told of repositories that cannot be settled (damaged on disk): one must not keep the host from starting
     * @returns how many repositories were looked at
     */
    async recover(expired: Date, failed: (repositoryId: number, error: unknown) => void): Promise<number> {
      const left = await db
        .sql<ReposTables>()
        .selectFrom('git_write')
        .select(['id', 'repository_id', 'actor_id', 'started_at'])
        .orderBy('id')
        .execute()
      const byRepository = Map.groupBy(left, (row) => row.repository_id)
      for (const [id, rows] of byRepository) {
        const over = rows.filter((row) => row.started_at < expired).map((row) => row.id)
        await settle(id, rows.at(-1)?.actor_id ?? null, over).catch((error) => failed(id, error))
      }
      return byRepository.size
    },
  }
}
export type Writes = ReturnType<typeof createWrites>
