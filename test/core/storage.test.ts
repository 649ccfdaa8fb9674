import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openDiskStorage } from '#core/storage'

const silent = { error: (_message: string, error: unknown) => t.fail(String(error)) }

async function open(t: { teardown(work: () => unknown): void }) {
  const root = await mkdtemp(join(tmpdir(), 'switchyard-storage-'))
  const { storage, close } = await openDiskStorage({ root, log: silent })
  t.teardown(async () => {
    close()
    await rm(root, { recursive: true, force: true })
  })
  return { root, storage }
}

const bytesOf = async (found: { stream: Readable } | undefined) => found && (await buffer(found.stream))
const keysOf = async (list: AsyncIterable<string>) => (await Readable.from(list).toArray()).sort()

t.test('puts, gets, replaces, deletes', async (t) => {
  const { storage, root } = await open(t)
  const content = randomBytes(300_000)
  const sha256 = createHash('sha256').update(content).digest('hex')

  t.same(await storage.put('packages/1/blob', Readable.from([content.subarray(0, 7), content.subarray(7)])), {
    size: 300_000,
    sha256,
  })
  const found = await storage.get('packages/1/blob')
  t.equal(found?.size, 300_000)
  t.ok(found && Date.now() - found.modified.getTime() < 60_000)
  t.ok((await bytesOf(found))?.equals(content))
  t.ok((await bytesOf(await storage.get('packages/1/blob', { start: 10, end: 19 })))?.equals(content.subarray(10, 20)))

  await storage.put('packages/1/blob', Buffer.from('new'))
  t.equal((await bytesOf(await storage.get('packages/1/blob')))?.toString(), 'new')
  t.match(await storage.stat('packages/1/blob'), { size: 3 })
  t.equal(await storage.delete('packages/1/blob'), true)
  t.equal(await storage.delete('packages/1/blob'), false)
  t.equal(await storage.get('packages/1/blob'), undefined)
  t.equal(await storage.stat('packages/1'), undefined, 'a folder is no object')
  t.equal(await storage.get('packages/1'), undefined)
  await storage.put('a', new Uint8Array())
  t.equal(await storage.get('a/b'), undefined, 'nothing is below an object')
  t.same(await readdir(join(root, '.tmp')), [])
})

t.test('a wrong digest and a broken source store nothing', async (t) => {
  const { storage, root } = await open(t)
  await t.rejects(storage.put('x', Buffer.from('one'), { sha256: '00' }), { name: 'Refusal' })
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('half')
      throw new Error('connection lost')
    })(),
  )
  await t.rejects(storage.put('x', broken), { message: 'connection lost' })
  t.equal(await storage.get('x'), undefined)
  t.same(await readdir(join(root, '.tmp')), [])
  const sha256 = createHash('sha256').update('one').digest('hex')
  await storage.put('x', Buffer.from('one'), { sha256 })
  t.match(await storage.stat('x'), { size: 3 })
})

t.test('refuses keys that are no keys', async (t) => {
  const { storage } = await open(t)
  const bad = [
    '',
    '/',
    '/etc/passwd',
    '../x',
    'a/../b',
    'a..b',
    'a//b',
    'a/',
    'a/./b',
    'A',
    'a b',
    'a\0',
    '.tmp/x',
    'ä',
    'a'.repeat(300),
  ]
  for (const key of bad) {
    await t.rejects(storage.put(key, Buffer.from('')), { name: 'Refusal' }, key)
    await t.rejects(storage.get(key), { name: 'Refusal' }, key)
    await t.rejects(storage.delete(key), { name: 'Refusal' }, key)
  }
  await t.rejects(storage.deletePrefix(''), { name: 'Refusal' }, 'nobody empties the store by mistake')
  await t.rejects(storage.deletePrefix('a'), { name: 'Refusal' })
})

t.test('lists and deletes by prefix', async (t) => {
  const { storage } = await open(t)
  for (const key of ['a/1', 'a/b/2', 'ab/3', 'c']) await storage.put(key, Buffer.from(key))
  t.same(await keysOf(storage.list('')), ['a/1', 'a/b/2', 'ab/3', 'c'])
  t.same(await keysOf(storage.list('a/')), ['a/1', 'a/b/2'])
  t.same(await keysOf(storage.list('nothing/')), [])
  await storage.deletePrefix('a/')
  await storage.deletePrefix('a/')
  t.same(await keysOf(storage.list('')), ['ab/3', 'c'])
})

t.test('puts and prefix deletes at the same time', async (t) => {
  const { storage } = await open(t)
  for (let round = 0; round < 20; round++) {
    await Promise.all([
      ...Array.from({ length: 5 }, (_, at) => storage.put(`busy/deep/${at}`, Buffer.from('x'))),
      storage.deletePrefix('busy/'),
    ])
  }
  for (const key of await keysOf(storage.list('busy/'))) t.match(await storage.stat(key), { size: 1 })
})

t.test('a writer that is killed leaves nothing visible', async (t) => {
  const { storage, root } = await open(t)
  const script = `
    import { Readable } from 'node:stream'
    import { openDiskStorage } from ${JSON.stringify(import.meta.resolve('../../core/storage/index.ts'))}
    const { storage } = await openDiskStorage({ root: ${JSON.stringify(root)}, log: console })
    const slow = async function* () { for (;;) { yield Buffer.alloc(65536, 1); await new Promise((go) => setTimeout(go, 5)) } }
    await storage.put('done', Buffer.from('done'))
    console.log('ready')
    await storage.put('half', Readable.from(slow()))`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  await sleep(100)
  child.kill('SIGKILL')
  await once(child, 'exit')

  t.same(await keysOf(storage.list('')), ['done'])
  t.equal(await storage.get('half'), undefined)
  const [left] = await readdir(join(root, '.tmp'))
  t.ok(left, 'the half object is in the workshop')

  const old = new Date(Date.now() - 2 * 3_600_000)
  await writeFile(join(root, '.tmp', 'young'), '')
  await utimes(join(root, '.tmp', left ?? ''), old, old)
  const again = await openDiskStorage({ root, log: silent })
  again.close()
  t.same(await readdir(join(root, '.tmp')), ['young'], 'the next start removes it once it is an hour old')
})
