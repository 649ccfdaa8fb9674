import { writeFileSync } from 'node:fs'
import type { Play } from '../play.ts'

/** A user makes a repository, pushes to it with git, stars it, and reads it back. */
export default async ({ call, user, git, remote, tmp, until }: Play) => {
  const alice = await user('alice')
  await user('bob')
  await call('GET', '/user', undefined, { as: 'alice' })
  await call('POST', '/user/repos', { name: 'one', description: 'first', private: false }, { as: 'alice' })
  await call('GET', `/repos/${alice}/one`, undefined, { as: 'bob' })
  await call('GET', `/repos/${alice}/one/branches`, undefined, { as: null })
  await call('GET', `/repos/${alice}/one/commits`, undefined, { as: null, text: true })
  await call('GET', `/repos/${alice}/one/contents`, undefined, { as: null })
  await call('GET', `/repos/${alice}/one/raw/README.md`, undefined, { as: null })
  await call('GET', `/repos/${alice}/one/git/trees/main`, undefined, { as: null })
  await call('GET', `/repos/${alice}/one/git/refs`, undefined, { as: null })
  await call('GET', `/repos/${alice}/one/tags`, undefined, { as: null })
  await call('GET', `/repos/${alice}/one/languages`, undefined, { as: null })
  await call('GET', `/repos/${alice}/one/topics`, undefined, { as: null })
  const folder = tmp()
  await git(folder, 'init', '-q', '-b', 'trunk')
  writeFileSync(`${folder}/README.md`, '# one\n')
  await git(folder, 'add', '.')
  await git(folder, 'commit', '-qm', 'start')
  await git(folder, 'push', '-q', remote('alice', alice, 'one'), 'trunk')
  await until(async () => {
    const { body } = await call('GET', `/repos/${alice}/one`, undefined, { as: 'alice', skip: true })
    return body.default_branch === 'trunk' && !body.empty
  })
  await call('GET', `/repos/${alice}/one`, undefined, { as: 'alice' })
  await call('GET', `/repos/${alice}/one/branches`, undefined, { as: null })
  await call('GET', `/repos/${alice}/one/contents/README.md`, undefined, { as: null })
  await call('GET', `/repos/${alice}/one/raw/README.md`, undefined, { as: null })
  await call('GET', `/repos/${alice}/one/commits`, undefined, { as: null })
  await call('PUT', `/user/starred/${alice}/one`, undefined, { as: 'bob' })
  await call('GET', `/repos/${alice}/one`, undefined, { as: 'bob' })
  await call('DELETE', `/repos/${alice}/one`, undefined, { as: 'alice' })
  await call('GET', `/repos/${alice}/one`, undefined, { as: 'alice' })
}
