/** A small world for tests that walk every operation: people in every role, a public and a private repository. */
import { git, type RepositoryRow } from '#core/repos'
import type { TestHost } from './host.ts'

/** A word that is only in what strangers may not see. */
export const marker = 'zqmarkerzq'

export type WorldRepository = {
  readonly row: RepositoryRow
  /** What stands in for the parameters of paths. */
  readonly values: Readonly<Record<string, string>>
}
export type World = { readonly pub: WorldRepository; readonly priv: WorldRepository }

const signer = { name: 'Olga', email: 'olga@example.com' }

/** Roles of people in both repositories; `owner` owns them, `stranger`, `other` and `guest` have none. */
const roles = { reader: 'read', writer: 'write', admin2: 'admin' } as const

/** Two branches, a file in a folder, an annotated tag. */
async function fill(h: TestHost, row: RepositoryRow, word: string): Promise<Readonly<Record<string, string>>> {
  const { repos } = h.rooms
  const repo = repos.open(row)
  return repos.writes.run(row, null, async () => {
    const content = Buffer.from(`The words of ${word}.\n`)
    const { commit } = await git.commitChanges(
      repo,
      { branch: 'main', mode: 'first', author: signer, committer: signer, message: `First of ${word}` },
      [
        { operation: 'create', path: 'README.md', content },
        { operation: 'create', path: `docs/${word}.txt`, content },
      ],
    )
    const sha = commit.id
    const blob = await git.writeBlob(repo, content)
    const annotated = await git.writeTag(repo, {
      ...{ name: 'v1', object: sha, objectType: 'commit', tagger: signer },
      message: `Release of ${word}`,
    })
    await git.updateRefs(repo, [
      { ref: 'refs/heads/dev', to: sha },
      { ref: 'refs/tags/v1', to: annotated },
    ])
    const names = ['refs/heads/main', 'refs/heads/dev', 'refs/tags/v1']
    const values = {
      ...{ owner: 'owner', repo: row.name, repository: String(row.id), sha, ref: 'main', blob, annotated },
      ...{ branch: 'main', tag: 'v1', filepath: 'README.md', basehead: 'main...dev', archive: 'main.zip' },
      ...{ diffType: 'diff', topic: 'known', collaborator: 'reader', id: '999999', token: 'nothing' },
    }
    return { names, result: values }
  })
}

async function repositoryOf(h: TestHost, name: string, word: string): Promise<WorldRepository> {
  const { repos, identity } = h.rooms
  const body = { name, private: name === 'priv', description: `About ${word}`, default_branch: 'main' }
  const made = await h.call('POST', '/user/repos', body, { as: 'owner' })
  const owner = await identity.accounts.byName('owner')
  const account = owner && { account: owner, credential: { method: 'password' as const } }
  const access = account && (await repos.findById(account, made.body.id))
  if (!access) throw new Error(`the world has no ${name}: ${made.status} ${JSON.stringify(made.body)}`)
  const row = access.repo
  for (const [person, permission] of Object.entries(roles)) {
    await h.call('PUT', `/repos/owner/${name}/collaborators/${person}`, { permission }, { as: 'owner' })
  }
  await h.call('PUT', `/repos/owner/${name}/topics`, { topics: ['known', word] }, { as: 'owner' })
  return { row, values: await fill(h, row, word) }
}

/** Makes the world. People of the roles are named after them, an administrator of the repository `admin2`. */
export async function makeWorld(h: TestHost): Promise<World> {
  for (const name of ['owner', 'stranger', 'other', 'guest', ...Object.keys(roles)]) await h.user(name)
  for (const visibility of ['limited', 'private']) await h.user(`is${visibility}`, { visibility })
  await h.user('ispublic')
  const pub = await repositoryOf(h, 'pub', 'openness')
  const priv = await repositoryOf(h, 'priv', marker)
  for (const name of ['pub', 'priv']) {
    await h.call('PUT', `/user/starred/owner/${name}`, undefined, { as: 'reader' })
    await h.call('PUT', `/repos/owner/${name}/subscription`, undefined, { as: 'reader' })
  }
  await h.idle()
  return { pub, priv }
}
