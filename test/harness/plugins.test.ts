/** What every plugin promises by being one; read from config/plugins.ts and the declarations, never from a list here. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { definePlugin, type Plugin } from '#core/contract'
import { anyone, BootError, Empty, type Route, rawRoute, route } from '#core/http'
import { switchOf } from '#core/plugin'
import { shippedPlugins } from '../../config/plugins.ts'
import { checkCompat } from '../../core/plugins.ts'
import { entitiesOf } from '../../core/rooms.ts'
import { query } from '../support/database.ts'
import { startHost, type TestHost } from '../support/host.ts'
import {
  closureOf,
  fillPath,
  knownTokens,
  pluginFolders,
  rawRoutesOf,
  root,
  routesOf,
  turn,
} from '../support/shipped.ts'

const names = shippedPlugins.map(({ name }) => name)
let h: TestHost
t.setTimeout(270_000)

t.before(async () => {
  h = await startHost(t as never)
})

t.test('manifests', async (t) => {
  t.strictSame([...names].sort(), pluginFolders(), 'every folder with a plugin ships, under its own name')
  const switches = shippedPlugins.flatMap((plugin) => {
    const { section, key, aliases = [] } = switchOf(plugin)
    return [key, ...aliases].map((spelling) => `[${section}] ${spelling}`)
  })
  t.equal(new Set(switches).size, switches.length, 'no two plugins share a switch')
  for (const plugin of shippedPlugins) {
    await t.test(plugin.name, async (t) => {
      const module = await import(join(root, 'plugins', plugin.name, 'plugin.ts'))
      t.equal(module.default, plugin, 'the folder is called as the plugin')
      t.match(plugin.name, /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/)
      t.doesNotThrow(() => checkCompat(plugin))
      t.match(plugin.summary, /^[A-Z].{8,120}\.$/, 'a sentence')
      const { off, key } = switchOf(plugin)
      t.match(key, /^(DISABLE|ENABLE)_[A-Z0-9_]+$/)
      t.ok([403, 404].includes(off.status), 'the face refuses')
      t.not(off.message, '')
      checkReadme(t, plugin)
    })
  }
})

/** A page of about ten lines: what it is, its switch and what off means, the data it owns. */
function checkReadme(t: Test, plugin: Plugin): void {
  const file = join(root, 'plugins', plugin.name, 'README.md')
  if (!existsSync(file)) return void t.fail(`plugins/${plugin.name}/README.md is missing`)
  const text = readFileSync(file, 'utf8')
  t.equal(text.split('\n')[0], `# ${plugin.name}`)
  t.ok(text.includes(switchOf(plugin).key), 'names its switch')
  t.match(text, /\bSwitch\b[\s\S]*\bOff\b/, 'says what off means')
  t.match(text, /\bdata\b/i, 'says which data it owns')
  t.ok(text.trim().split('\n').length <= 30, 'is short')
}

t.test('tables are what the entities say', async (t) => {
  t.equal(await h.rooms.opened.schemaDifference(), '')
  t.strictSame(await h.rooms.opened.unindexedForeignKeys(), [])
})

t.test('tables refer to core and to what their plugin cannot do without, and to nothing else', async (t) => {
  const owners = new Map<string, string>()
  const tableOf = (entity: unknown) =>
    (entity as { meta: { tableName?: string; collection?: string } }).meta.tableName as string
  for (const entity of entitiesOf([])) owners.set(tableOf(entity), 'core')
  for (const { name, entities = [] } of shippedPlugins) {
    for (const entity of entities) {
      t.equal(owners.get(tableOf(entity)), undefined, `${tableOf(entity)} has one owner`)
      owners.set(tableOf(entity), name)
    }
  }
  const keys = await query<{ table: string; target: string; deletes: string; name: string }>(
    h.rooms.opened.url,
    `select conrelid::regclass::text as table, confrelid::regclass::text as target, confdeltype as deletes, conname as name
     from pg_constraint join pg_class on pg_class.oid = conrelid
     where contype = 'f' and relnamespace = 'public'::regnamespace`,
  )
  t.not(keys.length, 0)
  for (const { table, target, deletes, name } of keys) {
    const owner = owners.get(table)
    t.ok(owner, `${table} is declared by an entity`)
    if (owner === undefined || owner === 'core') continue
    const allowed = ['core', ...closureOf(owner, 'needs')]
    t.ok(allowed.includes(owners.get(target) ?? ''), `${name}: ${owner} may point to ${target}`)
    t.ok(deletes === 'c' || deletes === 'n', `${name} cleans up after ${target}`)
  }
  const tables = await query<{ name: string }>(
    h.rooms.opened.url,
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  const strays = tables.map(({ name }) => name).filter((name) => !owners.has(name) && name !== 'migration')
  t.strictSame(strays, [], 'every table has an owner')
})

type Door = { plugin: string; method: string; url: string; governed: boolean }

/** Every route of the host, REST or not, with a path that leads to it. */
function doorsOf(rooms: TestHost['rooms']): Door[] {
  const rest = routesOf(rooms).map(({ plugin, route }) => ({
    plugin,
    method: route.method as string,
    url: fillPath(route.path),
    governed: route.governed !== false,
  }))
  const raw = rawRoutesOf(rooms).flatMap(({ plugin, route }) =>
    [route.method].flat().map((method) => ({
      plugin,
      method: method as string,
      url: `/${fillPath(route.path)}`,
      governed: route.governed !== false,
    })),
  )
  return [...rest, ...raw]
}

const saidBy = (body: unknown) =>
  typeof body === 'string' ? body.trim() : String((body as { message?: unknown } | null)?.message ?? '')

t.test('off: every governed route answers the face of its plugin, and only then', async (t) => {
  const doors = doorsOf(h.rooms)
  const faceOf = new Map(shippedPlugins.map((plugin) => [plugin.name, switchOf(plugin).off]))
  const looksOff = async ({ plugin, method, url }: Door, as: string | null) => {
    const { status, body } = await h.call(method, url, undefined, { as })
    const face = faceOf.get(plugin)
    return status === face?.status && saidBy(body) === face.message
  }
  for (const name of names) {
    const away = closureOf(name, 'dependents')
    await turn(h.rooms, name, true)
    const states = new Map(h.rooms.plugins.status().map((status) => [status.name, status]))
    for (const other of names) {
      t.equal(states.get(other)?.state, away.has(other) ? 'off' : 'on', `${other} while ${name} is off`)
      if (other !== name && away.has(other)) t.match(states.get(other)?.why, /is off$/, `${other} says why`)
    }
    const wrong: string[] = []
    for (const door of doors.filter(({ plugin }) => away.has(plugin))) {
      for (const as of [null, 'admin']) {
        // While off nothing can happen, so even an administrator's DELETE is safe; what goes on answering is not tried.
        if (!door.governed && (as === 'admin' || door.method !== 'GET')) continue
        if ((await looksOff(door, as)) !== door.governed)
          wrong.push(`${door.plugin}: ${door.method} ${door.url} as ${as}`)
      }
    }
    t.strictSame(wrong, [], `${name} off`)
    await turn(h.rooms, name, false)
  }
  const stillOff: string[] = []
  for (const door of doors) if (await looksOff(door, null)) stillOff.push(`${door.method} ${door.url}`)
  t.strictSame(stillOff, [], 'none does while on')
})

t.test('on and off three times leaves everything as it was', async (t) => {
  const tokens = await knownTokens()
  const snapshot = () => ({
    effects: h.rooms.plugins.status().map(({ name, state, effects }) => ({ name, state, effects })),
    tokens: tokens.map((token) =>
      token.kind === 'point'
        ? `${token.id}: ${h.rooms.registry.entries(token).length} entries`
        : `${token.id}: ${h.rooms.registry.find(token) === undefined ? 'nobody' : 'provided'}`,
    ),
  })
  const before = snapshot()
  t.ok(before.tokens.length > 10)
  for (const plugin of shippedPlugins) {
    for (let i = 0; i < 3; i++) {
      await turn(h.rooms, plugin.name, true)
      const status = h.rooms.plugins.status().find(({ name }) => name === plugin.name)
      t.match(status, { state: 'off', effects: [], running: 0 }, `${plugin.name} holds nothing while off`)
      for (const token of plugin.provides ?? []) t.equal(h.rooms.registry.find(token), undefined, `${token.id} is gone`)
      if (i === 0) await t.test(`${plugin.name} left nothing in the work room`, (t) => checkWork(t, plugin))
      await turn(h.rooms, plugin.name, false)
    }
    t.strictSame(snapshot(), before, `${plugin.name} came back as it was`)
  }
})

/** Names in the work room are unique: what was left behind would refuse its own name, and what must stay does. */
async function checkWork(t: Test, plugin: Plugin): Promise<void> {
  const { work, registry } = h.rooms
  const use = registry.use(plugin.needs ?? {}, plugin.name) as never
  for (const listener of plugin.listeners?.(use) ?? []) {
    const add = () => work.addListener(listener)
    if (listener.whileOff) t.throws(add, { message: /two listeners/ }, `${listener.name} stays`)
    else await add()()
  }
  for (const job of plugin.jobs?.(use) ?? []) await work.addJob(job)()
  for (const schedule of plugin.schedules?.(use) ?? []) await work.addSchedule(schedule)()
}

/** Sets of plugins that a host may be made of, each once: without one and its dependents, or with one and its needs. */
function smallerHosts(): Map<string, Plugin[]> {
  const sets = new Map<string, Plugin[]>()
  const add = (plugins: Plugin[]) => void sets.set(plugins.map(({ name }) => name).join(' '), plugins)
  for (const name of names) {
    const gone = closureOf(name, 'dependents')
    const kept = closureOf(name, 'needs')
    add(shippedPlugins.filter((plugin) => !gone.has(plugin.name)))
    add(shippedPlugins.filter((plugin) => kept.has(plugin.name)))
  }
  add([])
  return sets
}

t.test('a host without some plugins serves the others', async (t) => {
  for (const [list, plugins] of smallerHosts()) {
    await t.test(list || 'no plugin at all', async (t) => {
      const small = await startHost(t, { plugins })
      const status = small.rooms.plugins.status()
      t.strictSame(
        status.map(({ name, state }) => `${name} ${state}`).sort(),
        plugins.map(({ name }) => `${name} on`).sort(),
      )
      t.equal((await small.call('GET', '//swagger.v1.json')).status, 200)
      const wrong: string[] = []
      for (const { method, url } of doorsOf(small.rooms).filter((door) => door.method === 'GET')) {
        const { status, body } = await small.call(method, url)
        if (status >= 500) wrong.push(`${method} ${url}: ${status} ${saidBy(body)}`)
      }
      t.strictSame(wrong, [], 'nothing breaks because something else is not there')
      const present = new Set(doorsOf(small.rooms).map((door) => `${door.method} ${door.url}`))
      const missing = doorsOf(h.rooms).filter(
        ({ method, url }) => !present.has(`${method} ${url}`) && !url.startsWith('//'),
      )
      for (const { method, url } of missing) {
        const { status } = await small.call(method, url, undefined, { as: null })
        if (status !== 404 && status !== 405) wrong.push(`${method} ${url}: ${status}`)
      }
      t.strictSame(wrong, [], 'the routes of absent plugins are not there')
    })
  }
})

t.test('the description is complete', async (t) => {
  const { body: swagger } = await h.call('GET', '//swagger.v1.json', undefined, { as: null })
  const ids = new Set<string>()
  for (const { plugin, route } of routesOf(h.rooms).filter(({ route }) => !route.hidden)) {
    const operation = swagger.paths[route.path.replaceAll('+}', '}')]?.[route.method.toLowerCase()]
    const wrong: string[] = []
    const ask = (is: boolean, what: string) => void (is || wrong.push(what))
    ask(operation?.operationId === route.operationId, 'is described')
    ask(!ids.has(route.operationId), 'has an operationId of its own')
    ids.add(route.operationId)
    const responses = operation?.responses ?? {}
    ask(/\S/.test(operation?.summary ?? ''), 'has a summary')
    ask(operation?.tags?.length === 1 && /\S/.test(operation.tags[0]), 'has a tag')
    for (const status of statusesThatAreSure(plugin, route)) ask(status in responses, `describes ${status}`)
    for (const [status, response] of Object.entries(responses)) {
      const { $ref, description } = response as { $ref?: string; description?: string }
      ask($ref ? resolves(swagger, $ref) : /\S/.test(description ?? ''), `says what ${status} is`)
    }
    for (const parameter of operation?.parameters ?? []) {
      ask(parameter.schema !== undefined || parameter.type !== undefined, `types ${parameter.name}`)
      ask(
        parameter.in === 'body' || /\S/.test(parameter.description ?? ''),
        `describes the parameter ${parameter.name}`,
      )
    }
    for (const ref of JSON.stringify(operation ?? {}).matchAll(/"\$ref":"([^"]+)"/g))
      ask(resolves(swagger, ref[1] as string), `${ref[1]} exists`)
    t.strictSame(wrong, [], `${plugin}: ${route.method} ${route.path}`)
  }
  for (const [name, definition] of Object.entries(swagger.definitions)) {
    for (const ref of JSON.stringify(definition).matchAll(/"\$ref":"([^"]+)"/g))
      t.ok(resolves(swagger, ref[1] as string), `${name} refers to ${ref[1]}, which is described`)
  }
  const open = await h.call('GET', '//openapi3.v1.json', undefined, { as: null })
  if (open.status === 200) t.equal(Object.keys(open.body.paths).length, Object.keys(swagger.paths).length)
})

/** Statuses that an operation can give whatever its handler does. */
function statusesThatAreSure(plugin: string, route: Route): number[] {
  const statuses = [401, ...Object.keys(route.answers).map(Number), ...route.access.refusals, ...(route.refusals ?? [])]
  if (route.scope !== 'none') statuses.push(403)
  if (route.path.includes('{')) statuses.push(404)
  if (typeof route.body === 'object') statuses.push(422)
  const owner = shippedPlugins.find(({ name }) => name === plugin)
  if (owner && route.governed !== false) statuses.push(switchOf(owner).off.status)
  return statuses
}

function resolves(document: unknown, ref: string): boolean {
  const steps = ref.replace(/^#\//, '').split('/')
  return (
    steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document) !== undefined
  )
}

t.test('a route that does not say who may call it does not boot', async (t) => {
  const answers = { 204: Empty }
  const sound = {
    method: 'GET' as const,
    path: '/loose',
    operationId: 'loose',
    tag: 'user',
    summary: 'Is loose.',
    access: anyone,
    scope: 'none' as const,
    answers,
    handle: () => undefined,
  }
  const rest = (change: object) => ({ routes: () => [{ ...route(sound), ...change } as Route] })
  const raw = (change: object) => {
    const one = rawRoute({ method: 'GET', path: '/loose', access: anyone, scope: 'none', handle: () => ({}) as never })
    return { raw: () => [{ ...one, ...change }] }
  }
  const mistakes: [string, Partial<Plugin>, RegExp][] = [
    ['no access', rest({ access: undefined }), /access/],
    ['an access that admits nobody in particular', rest({ access: { name: 'x', refusals: [] } }), /access/],
    ['no scope', rest({ scope: undefined }), /scope/],
    ['no operationId', rest({ operationId: '' }), /operationId/],
    ['no answer', rest({ answers: {} }), /answer/],
    ['no access, outside REST', raw({ access: undefined }), /access/],
    ['no scope, outside REST', raw({ scope: undefined }), /scope/],
    ['REST by the back door', raw({ path: '/api/v1/loose' }), /REST/],
  ]
  for (const [what, parts, says] of mistakes) {
    const loose = { ...definePlugin({ name: 'loose', compat: '^1', summary: 'Is loose.' }), ...parts } as Plugin
    await t.test(what, async (t) => {
      await t.rejects(startHost(t, { plugins: [loose] }), { name: BootError.name, message: says })
    })
  }
  await t.test('said, it boots', async (t) => {
    const loose = { ...definePlugin({ name: 'loose', compat: '^1', summary: 'Is loose.' }), ...rest({}) } as Plugin
    const host = await startHost(t, { plugins: [loose] })
    t.equal((await host.call('GET', '/loose', undefined, { as: null })).status, 204)
  })
})
