/**
 * What an attack on the host once broke: every test here fails without the change that it came with. The classes of
 * attacks that are walked through systematically are in test/harness and beside the rooms.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { withoutSecrets } from '#core/http'
import type { ReposTables } from '#core/repos'
import { startHost, type TestHost } from './support/host.ts'

const git = promisify(execFile)
const env = { PATH: process.env.PATH, HOME: '/dev/null', GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' }

/** Runs git in a folder and answers its exit status and all that it said. */
async function run(cwd: string, ...args: string[]): Promise<{ code: number; said: string }> {
  try {
    const { stdout, stderr } = await git('git', args, { cwd, env })
    return { code: 0, said: stdout + stderr }
  } catch (error) {
    const { code = 1, stderr } = error as { code?: number; stderr: string }
    return { code, said: stderr }
  }
}

/** Writes an object as it is given, however odd, and answers its id. */
async function writeObject(cwd: string, type: string, content: string): Promise<string> {
  const process = spawn('git', ['hash-object', '-t', type, '-w', '--literally', '--stdin'], { cwd, env })
  process.stdin.end(content)
  const [id] = await once(process.stdout, 'data')
  return String(id).trim()
}

/** A repository of a client with one commit per message. */
async function workFolder(t: Test, ...messages: string[]): Promise<{ cwd: string; commits: string[] }> {
  const cwd = t.testdir({})
  await run(cwd, 'init', '-q', '.')
  const tree = await writeObject(cwd, 'tree', '')
  const person = 'A <a@example.com> 1700000000 +0000'
  const commits: string[] = []
  for (const message of messages) {
    commits.push(await writeObject(cwd, 'commit', `tree ${tree}\nauthor ${person}\ncommitter ${person}\n\n${message}`))
  }
  return { cwd, commits }
}

async function makeRepository(h: TestHost, owner: string, name: string, more: object = {}): Promise<number> {
  const made = await h.call('POST', '/user/repos', { name, ...more }, { as: owner })
  if (made.status !== 201) throw new Error(`${name}: ${made.status} ${JSON.stringify(made.body)}`)
  return made.body.id
}

const announcements = ({ rooms }: TestHost) =>
  rooms.opened.database.sql<ReposTables>().selectFrom('git_write').select('id').execute()
const running = ({ rooms }: TestHost) => rooms.plugins.status().reduce((sum, plugin) => sum + plugin.running, 0)
const basic = (h: TestHost, name: string) => `Basic ${Buffer.from(`${name}:${h.passwordOf(name)}`).toString('base64')}`

t.test('pushes that the record could not hold', async (t) => {
  const h = await startHost(t)
  await h.user('ann')
  await h.user('bob')
  const recover = async () => {
    const failed: number[] = []
    await h.rooms.repos.writes.recover(new Date(), (id) => failed.push(id))
    return failed
  }

  t.test('odd objects and names are recorded, and nothing is left that a restart would trip over', async (t) => {
    const { cwd, commits } = await workFolder(t, 'one\n', 'a'.repeat(3_000_000), 'b'.repeat(5_000_000))
    const [one, long, tooLong] = commits
    const person = 'A <a@example.com> 1700000000 +0000'
    const tag = await writeObject(cwd, 'tag', `object ${one}\ntype commit\ntag v1\ntagger ${person}\n\nNUL \0 here\n`)
    const pushes: Record<string, string[]> = {
      nul: [`${one}:refs/heads/main`, `${tag}:refs/tags/v1`],
      dash: [`${one}:refs/heads/-x`],
      head: [`${one}:refs/heads/HEAD`],
      long: [`${long}:refs/heads/main`, `${tooLong}:refs/heads/longer`],
    }
    for (const [name, specs] of Object.entries(pushes)) {
      const id = await makeRepository(h, 'ann', name)
      const { code, said } = await run(cwd, 'push', '-q', h.remote('ann', `/ann/${name}.git`), ...specs)
      t.equal(code, 0, `${name}: ${said}`)
      const refs = await h.rooms.opened.database
        .sql<ReposTables>()
        .selectFrom('git_ref')
        .select(['name', 'facts'])
        .where('repository_id', '=', id)
        .execute()
      t.equal(refs.length, specs.length, `${name}: every ref is recorded`)
      t.ok(
        refs.every(({ facts }) => JSON.stringify(facts).length < 50_000),
        'a message of megabytes is not kept beside its ref',
      )
    }
    t.strictSame(await announcements(h), [])
    t.strictSame(await recover(), [])
  })

  t.test('the push of somebody who was deleted meanwhile is recorded as nobody’s', async (t) => {
    const { cwd, commits } = await workFolder(t, 'one\n')
    await makeRepository(h, 'ann', 'gone')
    await h.call('PUT', '/repos/ann/gone/collaborators/bob', {}, { as: 'ann' })
    const writes = h.rooms.repos.writes as { begin: typeof h.rooms.repos.writes.begin }
    const { begin } = writes
    writes.begin = async (...given) => {
      const write = await begin(...given)
      t.equal((await h.call('DELETE', '/admin/users/bob')).status, 204)
      return write
    }
    const { code, said } = await run(
      cwd,
      'push',
      '-q',
      h.remote('bob', '/ann/gone.git'),
      `${commits[0]}:refs/heads/main`,
    )
    writes.begin = begin
    t.equal(code, 0, said)
    t.strictSame(await announcements(h), [])
  })

  t.test('a push that is refused as a whole leaves no announcement', async (t) => {
    const { cwd, commits } = await workFolder(t, 'one\n')
    await makeRepository(h, 'ann', 'refused')
    const push = (...specs: string[]) => run(cwd, 'push', h.remote('ann', '/ann/refused.git'), ...specs)
    await push(`${commits[0]}:refs/heads/main`)
    t.equal((await push(':refs/heads/main', `${commits[0]}:refs/heads/other`)).code, 1)
    t.equal((await push(`${commits[0]}:refs/switchyard/x`)).code, 1)
    t.strictSame(await announcements(h), [])
    const { code, said } = await push(':refs/heads/nothing', `${commits[0]}:refs/heads/other`)
    t.equal(code, 0, `what is not there can be deleted beside something else: ${said}`)
  })

  t.test('a damaged repository does not keep others from being settled', async (t) => {
    const { cwd, commits } = await workFolder(t, 'one\n')
    const damaged = await makeRepository(h, 'ann', 'damaged')
    const sound = await makeRepository(h, 'ann', 'sound')
    const { repos, opened } = h.rooms
    for (const repository_id of [damaged, sound]) {
      await opened.database.tx((tx) =>
        tx.sql<ReposTables>().insertInto('git_write').values({ repository_id, actor_id: null }).execute(),
      )
    }
    repos.open({ id: damaged }).release()
    await rm(repos.gitDir({ id: damaged }), { recursive: true })
    await run(cwd, 'push', '-q', repos.gitDir({ id: sound }), `${commits[0]}:refs/heads/main`)
    t.strictSame(await recover(), [damaged])
    t.equal((await h.call('GET', '/repos/ann/sound', undefined, { as: 'ann' })).body.empty, false)
  })
})

t.test('clients that break off', async (t) => {
  const h = await startHost(t)
  await h.user('ann')
  await makeRepository(h, 'ann', 'one', { auto_init: true })
  const port = Number(new URL(h.base).port)
  const open = (head: string) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(head.replaceAll('\n', '\r\n'))
    return socket
  }
  const fetching = (more = '') =>
    `POST /ann/one.git/git-upload-pack HTTP/1.1\nHost: x\nContent-Type: application/x-git-upload-pack-request\nTransfer-Encoding: chunked\n${more}\n`

  t.test('a broken compressed body ends its request and not the process; slow ones hold nobody up', async (t) => {
    // More than there are places for transfers.
    const slow = Array.from({ length: 34 }, () => open(fetching()))
    await sleep(1000)
    const broken = open(`${fetching('Content-Encoding: gzip\n')}5\nhello\n`)
    const left = open(fetching('Content-Encoding: gzip\n'))
    await sleep(200)
    left.destroy()
    await sleep(300)
    const start = performance.now()
    const cloned = await run(t.testdir({}), 'clone', '-q', `${h.base}/ann/one.git`, 'here')
    t.equal(cloned.code, 0, cloned.said)
    t.ok(performance.now() - start < 8000, 'a clone does not wait for slow clients')
    for (const socket of [...slow, broken]) socket.destroy()
    t.equal((await h.call('GET', '/version')).status, 200)
  })

  t.test('a request whose client left while the password was checked leaves its plugin', async (t) => {
    const auth = basic(h, 'ann')
    const upload = 'application/x-git-upload-pack-request\nContent-Encoding: gzip'
    for (const [line, type] of [
      ['POST /api/v1/user/repos', 'application/json'],
      ['POST /api/v1/markdown', 'application/json'],
      ['PUT /api/v1/repos/ann/one/topics', 'application/json'],
      ['POST /ann/one.git/git-upload-pack', upload],
    ]) {
      const head = `${line} HTTP/1.1\nHost: x\nAuthorization: ${auth}\nContent-Type: ${type}\nContent-Length: 100\n\n{`
      for (const pause of [0, 1, 2, 4, 8, 16, 32, 64]) {
        const socket = open(head)
        await sleep(pause)
        socket.destroy()
      }
    }
    for (let i = 0; i < 50 && running(h) > 0; i++) await sleep(100)
    t.equal(running(h), 0)
  })
})

t.test('inputs that cost too much, or that nobody thought of', async (t) => {
  const h = await startHost(t)
  await h.user('ann')
  const timed = async (work: () => Promise<{ status: number }>) => {
    const start = performance.now()
    const { status } = await work()
    return { status, ms: performance.now() - start }
  }
  const avatar = (image: string) => timed(() => h.call('POST', '/user/avatar', { image }, { as: 'ann' }))

  const padding = await avatar(`${'='.repeat(400_000)}A`)
  t.equal(padding.status, 400)
  t.ok(padding.ms < 5000, `padding without end: ${padding.ms} ms`)
  const jpeg = await avatar(
    Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(8_000_000)]).toString('base64'),
  )
  t.equal(jpeg.status, 422)
  t.ok(jpeg.ms < 1200, `a JPEG without a size: ${jpeg.ms} ms`)

  for (const mode of ['toString', '__proto__', 'constructor', 'hasOwnProperty']) {
    t.equal((await h.call('GET', `/repos/search?mode=${mode}`)).status, 422, mode)
  }
  const words = await timed(() => h.call('GET', `/repos/search?q=${'a,'.repeat(4000)}`, undefined, { as: null }))
  t.equal(words.status, 200)
  const different = Array.from({ length: 3500 }, (_, i) => i.toString(36)).join(',')
  t.equal((await h.call('GET', `/repos/search?includeDesc=true&q=${different}`, undefined, { as: null })).status, 200)

  t.equal(withoutSecrets('/x?page=1&token=abc'), '/x?page=1&token=[hidden]')
  t.equal(withoutSecrets('/x?%74oken=abc&q=token=1'), '/x?%74oken=[hidden]&q=token=1', 'also when it is spelled oddly')
})

t.test('what people may not see', async (t) => {
  const h = await startHost(t)
  for (const name of ['ann', 'bob']) await h.user(name)
  await h.user('restricted', { is_restricted: true })
  await h.user('hidden', { visibility: 'private' })
  const open = await makeRepository(h, 'ann', 'open')
  const secret = await makeRepository(h, 'ann', 'secret', { private: true })
  await h.call('PUT', '/user/starred/ann/open', undefined, { as: 'ann' })

  t.test('restricted users see nothing by way of others', async (t) => {
    for (const path of ['/users/ann/starred', '/users/ann/subscriptions']) {
      t.equal((await h.call('GET', path, undefined, { as: 'bob' })).body.length, 1, path)
      t.strictSame((await h.call('GET', path, undefined, { as: 'restricted' })).body, [], path)
    }
    const search = (as: string) => h.call('GET', '/repos/search?private=false', undefined, { as })
    t.equal((await search('bob')).body.data.length, 1)
    t.strictSame((await search('restricted')).body.data, [])
  })

  t.test('the parent of a fork in a list of somebody else’s', async (t) => {
    const link = (parent_id: number | null) =>
      h.rooms.opened.database.tx((tx) =>
        tx.sql<ReposTables>().updateTable('repository').set({ parent_id }).where('id', '=', open).execute(),
      )
    await link(secret)
    const [shown] = (await h.call('GET', '/users/ann/starred', undefined, { as: 'bob' })).body
    t.notOk('parent' in shown)
    const [own] = (await h.call('GET', '/user/starred', undefined, { as: 'ann' })).body
    t.equal(own.parent.name, 'secret')
    await link(null)
  })

  t.test('hidden people among collaborators', async (t) => {
    await h.call('PUT', '/repos/ann/open/collaborators/hidden', {}, { as: 'ann' })
    const list = (as: string) => h.call('GET', '/repos/ann/open/collaborators', undefined, { as })
    t.strictSame((await list('bob')).body, [])
    t.equal((await list('bob')).headers.get('x-total-count'), '0')
    t.equal((await list('ann')).body.length, 1, 'whoever gave the role knows')
    await makeRepository(h, 'bob', 'mine')
    const permission = (name: string) =>
      h.call('GET', `/repos/bob/mine/collaborators/${name}/permission`, undefined, { as: 'bob' })
    const [missing, concealed] = [await permission('nobody'), await permission('hidden')]
    t.equal(concealed.status, 404)
    t.equal(concealed.body.message, missing.body.message.replace('nobody', 'hidden'))
    t.equal((await permission('ann')).status, 200)
  })

  t.test('what is hidden asks the database as often as what is missing', async (t) => {
    for (const as of [null, 'bob']) {
      for (const [concealed, missing] of [
        ['/repos/ann/secret', '/repos/ann/nothing'],
        ['/users/hidden', '/users/nobody'],
      ] as const) {
        t.equal(
          await h.queriesOf('GET', concealed, { as }),
          await h.queriesOf('GET', missing, { as }),
          `${concealed} for ${as}`,
        )
      }
    }
  })
})

t.test('changes at once', async (t) => {
  const h = await startHost(t, { config: { 'database.POOL': '4' } })
  for (const name of ['ann', 'bob']) await h.user(name)
  const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort()

  t.test('edits of one repository do not undo each other', async (t) => {
    const units = ['has_wiki', 'has_releases', 'has_packages', 'has_projects', 'has_actions']
    for (let round = 0; round < 3; round++) {
      await makeRepository(h, 'ann', `edited${round}`)
      const path = `/repos/ann/edited${round}`
      await Promise.all(units.map((unit) => h.call('PATCH', path, { [unit]: false }, { as: 'ann' })))
      const { body } = await h.call('GET', path, undefined, { as: 'ann' })
      t.strictSame(
        units.map((unit) => body[unit]),
        units.map(() => false),
      )
    }
  })

  t.test('one of several deletions does it', async (t) => {
    await makeRepository(h, 'ann', 'doomed')
    const all = Array.from({ length: 6 }, () => h.call('DELETE', '/repos/ann/doomed', undefined, { as: 'ann' }))
    t.strictSame(statuses(await Promise.all(all)), [204, 404, 404, 404, 404, 404])
  })

  t.test('what is hung on something that goes is refused, not a fault', async (t) => {
    const { database } = h.rooms.opened
    const star = (repository_id: number) =>
      database.tx((tx) =>
        tx
          .sql<{ star: { repository_id: number; account_id: number } }>()
          .insertInto('star')
          .values({ repository_id, account_id: 1 })
          .execute(),
      )
    const refusalOf = (work: Promise<unknown>) => work.catch(({ kind }: { kind?: string }) => kind)
    t.equal(await refusalOf(star(999_999)), 'not-found')
    const id = await makeRepository(h, 'ann', 'twice')
    await star(id)
    t.equal(await refusalOf(star(id)), 'conflict')
    for (let i = 0; i < 8; i++) {
      await makeRepository(h, 'ann', `brief${i}`)
      const path = `/repos/ann/brief${i}`
      const answers = await Promise.all([
        h.call('DELETE', path, undefined, { as: 'ann' }),
        h.call('PUT', `/user/starred/ann/brief${i}`, undefined, { as: 'bob' }),
        h.call('PUT', `${path}/subscription`, undefined, { as: 'bob' }),
        h.call('PUT', `${path}/collaborators/bob`, {}, { as: 'ann' }),
        h.call('PUT', `${path}/topics/x`, undefined, { as: 'ann' }),
        h.call('PATCH', path, { name: `renamed${i}` }, { as: 'ann' }),
      ])
      t.ok(
        statuses(answers).every((status) => status < 500),
        statuses(answers).join(' '),
      )
    }
  })

  t.test('more follows than connections', async (t) => {
    const start = performance.now()
    const all = Array.from({ length: 16 }, () => h.call('PUT', '/user/following/bob', undefined, { as: 'ann' }))
    t.strictSame([...new Set(statuses(await Promise.all(all)))], [204])
    t.ok(performance.now() - start < 8000)
  })
})

t.test('redirects stay below the path of ROOT_URL', async (t) => {
  const h = await startHost(t, { config: { 'server.ROOT_URL': 'http://127.0.0.1/forge/' } })
  await h.user('ann')
  await makeRepository(h, 'ann', 'old')
  await h.call('PATCH', '/repos/ann/old', { name: 'new' }, { as: 'ann' })
  const { status, headers } = await h.call('GET', '//forge/api/v1/repos/ann/old?x=1', undefined, { as: 'ann' })
  t.equal(status, 301)
  t.equal(headers.get('location'), '/forge/api/v1/repos/ann/new?x=1')
})
