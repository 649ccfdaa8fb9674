/** Switches are live: what is set on one process holds on all within 2 s, and turning breaks nothing that runs. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { definePlugin, type Plugin } from '#core/contract'
import { answer, anyone, rawRoute } from '#core/http'
import { switchOf } from '#core/plugin'
import { shippedPlugins } from '../../config/plugins.ts'
import { anotherHost } from '../support/another-host.ts'
import { createSender, type Reply, type Shot } from '../support/hammer.ts'
import { startHost } from '../support/host.ts'
import { fillPath, rawRoutesOf, root, routesOf, turn } from '../support/shipped.ts'

/** Asks again and again until it is so; answers the ms that it took. */
async function until(what: string, is: () => Promise<boolean>, patience = 2000): Promise<number> {
  const start = performance.now()
  while (!(await is())) {
    if (performance.now() - start > patience) throw new Error(`${what}: not within ${patience} ms`)
    await sleep(5)
  }
  return performance.now() - start
}

t.setTimeout(270_000)

t.test('a stored switch is followed by every process within 2 s', async (t) => {
  const first = await startHost(t)
  const second = await anotherHost(t, first)
  const rest = routesOf(first.rooms).map(({ plugin, route }) => ({
    ...{ plugin, method: route.method, governed: route.governed },
    path: `/api/v1${fillPath(route.path)}`,
  }))
  const raw = rawRoutesOf(first.rooms).map(({ plugin, route }) => ({
    ...{ plugin, method: [route.method].flat()[0] as string, governed: route.governed },
    path: fillPath(route.path),
  }))
  const senders = [first, second].map(({ base }) => createSender(base, 4))
  t.teardown(() => senders.map(({ close }) => close()))
  for (const plugin of shippedPlugins) {
    const door = [...rest, ...raw].find((one) => one.plugin === plugin.name && one.governed !== false)
    if (!door) continue
    const { section, key, off } = switchOf(plugin)
    const isOff = async () => {
      const replies = await Promise.all(senders.map(({ send }) => send({ method: door.method, path: door.path })))
      return replies.map(({ status, text }) => status === off.status && text.includes(off.message))
    }
    await first.rooms.settings.set(section, key, 'true')
    const down = await until(`${key} on both`, async () => (await isOff()).every(Boolean))
    await second.rooms.settings.set(section, key, 'false')
    const up = await until(`${key} on neither`, async () => !(await isOff()).some(Boolean))
    t.ok(down < 2000 && up < 2000, `${key}: ${Math.round(down)} ms down, ${Math.round(up)} ms up`)
  }
})

const run = promisify(execFile)

/** The command as an operator types it. */
async function command(args: readonly string[], env: Record<string, string>) {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(SWITCHYARD_|DISABLE_)/.test(name)),
  )
  try {
    const { stdout, stderr } = await run(join(root, 'bin/switchyard'), [...args], { env: { ...clean, ...env } })
    return { code: 0, said: stdout + stderr }
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string }
    return { code: code ?? -1, said: stdout + stderr }
  }
}

t.test('the command reaches a running host; what is declared is locked, and it says where', async (t) => {
  const h = await startHost(t)
  const folder = await mkdtemp(join(tmpdir(), 'swy-switch-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'app.ini')
  await writeFile(file, '; first line\n[repository]\nDISABLE_STARS = true\n')
  const open = { DATABASE_URL: h.rooms.opened.url }
  const data = ['--data', h.folder]
  const list = '/repos/nobody/nothing/stargazers'
  const isOff = async () => (await h.call('GET', list)).body.message === 'Stars are disabled.'

  t.match(await command(['switches', 'set', 'DISABLE_STARS', 'true', ...data], open), { code: 0, said: /true/ })
  t.ok((await until('the host follows', isOff)) < 2000)
  t.match(await command(['switches', 'list', ...data], open), { code: 0, said: /DISABLE_STARS +true +set at run time/ })
  t.match(await command(['switches', 'set', 'DISABLE_STARS', 'false', ...data], open), { code: 0 })
  t.ok((await until('and back', async () => !(await isOff()))) < 2000)

  const inFile = await command(['switches', 'set', 'DISABLE_STARS', 'false', ...data, '--config', file], open)
  t.match(inFile, { code: 1, said: /DISABLE_STARS is declared in .*app\.ini:3/ })
  const inEnvironment = await command(['switches', 'set', 'DISABLE_STARS', 'false', ...data], {
    ...open,
    DISABLE_STARS: 'true',
  })
  t.match(inEnvironment, { code: 1, said: /DISABLE_STARS is declared in .*environment.*DISABLE_STARS/ })
  t.match(await command(['switches', 'set', 'DISABLE_STRAS', 'true', ...data], open), {
    code: 1,
    said: /DISABLE_STARS/,
  })
})

t.test('declared, a switch holds against what is stored', async (t) => {
  const h = await startHost(t, { config: { 'repository.DISABLE_STARS': 'true' } })
  const face = { status: 403, body: { message: 'Stars are disabled.' } }
  t.match(await h.call('GET', '/repos/a/b/stargazers'), face)
  await h.rooms.settings.set('repository', 'DISABLE_STARS', 'false')
  await h.rooms.plugins.reconcile()
  t.match(await h.call('GET', '/repos/a/b/stargazers'), face)
  const status = h.rooms.plugins.status().find(({ name }) => name === 'stars')
  t.match(status, { state: 'off', why: /DISABLE_STARS \(.*environment.*\)/ })
})

t.test('requests that run when the switch is turned are finished', async (t) => {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>()
  const slow = definePlugin({
    name: 'slow',
    compat: '^1',
    summary: 'Takes its time.',
    raw: () => [
      rawRoute({
        method: 'GET',
        path: '/slow',
        access: anyone,
        scope: 'none',
        handle: async () => {
          await gate
          return answer(200, 'done', { 'content-type': 'text/plain' })
        },
      }),
    ],
  }) as unknown as Plugin
  const h = await startHost(t, { plugins: [slow] })
  const running = h.call('GET', '//slow')
  await until('it is inside', async () => h.rooms.plugins.status()[0]?.running === 1)
  const turned = turn(h.rooms, 'slow', true)
  await until('the door is closed', async () => h.rooms.plugins.status()[0]?.state === 'stopping')
  const refused = await h.call('GET', '//slow')
  t.match(refused, { status: 403, body: { message: 'The feature slow is disabled.' } })
  t.equal(h.rooms.plugins.status()[0]?.running, 1, 'it is still inside')
  letGo()
  t.match(await running, { status: 200, body: 'done' })
  await turned
  t.match(h.rooms.plugins.status()[0], { state: 'off', running: 0 })
})

type Target = Shot & { readonly normal: readonly number[] }

/** Clients that ask without pause until `stop`; answers what came that nobody may get. */
function storm(base: string, targets: readonly Target[], faces: readonly string[], clients: number) {
  const sender = createSender(base, clients)
  const strange = new Map<string, number>()
  const counts = { normal: 0, face: 0 }
  let stopped = false
  const judge = ({ method, path, normal }: Target, { status, text }: Reply) => {
    if (faces.includes(`${status} ${messageOf(text)}`)) return void counts.face++
    if (normal.includes(status)) return void counts.normal++
    const what = `${method} ${path}: ${status} ${text.slice(0, 200)}`
    strange.set(what, (strange.get(what) ?? 0) + 1)
  }
  const client = async (index: number) => {
    for (let i = index; !stopped; i++) {
      const target = targets[i % targets.length] as Target
      judge(target, await sender.send(target))
    }
  }
  const all = Promise.all(Array.from({ length: clients }, (_, index) => client(index)))
  return {
    async stop() {
      stopped = true
      await all
      sender.close()
      return { strange: [...strange].map(([what, times]) => `${times} × ${what}`), ...counts }
    },
  }
}

function messageOf(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message)
  } catch {
    return text.trim()
  }
}

const effectsOf = (h: Awaited<ReturnType<typeof startHost>>) =>
  h.rooms.plugins.status().map(({ name, state, effects, running }) => ({ name, state, effects, running }))

t.test('1,000 flips under load: nothing but normal answers and the face, and nothing left behind', async (t) => {
  const h = await startHost(t)
  for (const name of ['alice', 'bob']) await h.user(name)
  await h.call('POST', '/user/repos', { name: 'one' }, { as: 'alice' })
  const headers = { authorization: `token ${h.token('bob')}` }
  const shot = (method: string, path: string, normal: readonly number[]): Target => ({
    ...{ method, headers, normal },
    path: `/api/v1${path}`,
  })
  const targets = [
    shot('GET', '/repos/alice/one/stargazers', [200]),
    shot('PUT', '/user/starred/alice/one', [204]),
    shot('GET', '/user/starred/alice/one', [204, 404]),
    shot('GET', '/user/starred', [200]),
    shot('DELETE', '/user/starred/alice/one', [204]),
    shot('GET', '/users/bob/starred', [200]),
    shot('GET', '/repos/alice/one', [200]),
    shot('GET', '/repos/search?sort=stars&order=desc', [200, 422]),
  ]
  const before = effectsOf(h)
  const load = storm(h.base, targets, ['403 Stars are disabled.'], 4)
  const start = performance.now()
  for (let i = 0; i < 1000; i++) {
    await h.rooms.settings.set('repository', 'DISABLE_STARS', i % 2 === 0 ? 'true' : 'false')
    await h.rooms.plugins.reconcile()
  }
  const took = performance.now() - start
  const { strange, normal, face } = await load.stop()
  t.comment(`${Math.round(took)} ms for 1,000 flips; ${normal} normal answers, ${face} faces`)
  t.strictSame(strange, [])
  t.ok(normal > 200 && face > 200, 'both states were met')
  t.strictSame(effectsOf(h), before)
})

t.test('flips of every plugin at once, from two hosts', async (t) => {
  const h = await startHost(t)
  const second = await anotherHost(t, h)
  await h.user('alice')
  await h.call('POST', '/user/repos', { name: 'one', auto_init: true }, { as: 'alice' })
  const before = effectsOf(h)
  const faces = shippedPlugins
    .map((plugin) => switchOf(plugin).off)
    .map(({ status, message }) => `${status} ${message}`)
  const words = { owner: 'alice', repo: 'one', username: 'alice', filepath: 'README.md', branch: 'main' }
  const headers = { authorization: `token ${h.token('alice')}` }
  // A service that another plugin takes away in the middle of a request is refused as unavailable, and never a fault.
  const normal = [200, 204, 301, 302, 303, 307, 400, 401, 403, 404, 409, 422, 503]
  const targets = routesOf(h.rooms)
    .filter(({ route }) => route.method === 'GET')
    .map(({ route }) => ({ method: 'GET', path: `/api/v1${fillPath(route.path, words)}`, headers, normal }))
  const loads = [h, second].map(({ base }) => storm(base, targets, faces, 4))
  const all = [...shippedPlugins]
  for (let i = 0; i < 60; i++) {
    const { section, key } = switchOf(all[i % all.length] as Plugin)
    await [h, second][i % 2]?.rooms.settings.set(section, key, i % 3 === 0 ? null : i % 3 === 1 ? 'true' : 'false')
    await sleep(5)
  }
  for (const plugin of all) {
    const { section, key } = switchOf(plugin)
    await h.rooms.settings.set(section, key, null)
  }
  for (const { rooms } of [h, second]) {
    await until('all are on again', async () => rooms.plugins.status().every(({ state }) => state === 'on'), 10_000)
  }
  for (const load of loads) t.strictSame((await load.stop()).strange, [])
  await until('everybody has left', async () => h.rooms.plugins.status().every(({ running }) => running === 0))
  t.strictSame(effectsOf(h), before)
})
