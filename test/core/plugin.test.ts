import t from 'tap'
import {
  createPluginHost,
  event,
  type Manifest,
  maybe,
  orderPlugins,
  PluginError,
  point,
  type Scope,
  service,
} from '#core/plugin'

const Nails = service<{ count: number }>('nails.nails')
const Wood = service<string>('wood.wood')
const Tools = point<string>('shed.tools')

const plugin = (name: string, more: Partial<Manifest> = {}): Manifest => ({
  name,
  compat: '^1',
  summary: `${name} for tests`,
  ...more,
})

/** A host whose switches are a set of names, with all that it logged. */
function hostOf(plugins: Manifest[], activate: (plugin: Manifest, scope: Scope) => void = () => {}) {
  const off = new Set<string>()
  const errors: string[] = []
  const host = createPluginHost({
    plugins,
    settings: { declared: () => undefined, stored: (sw) => (off.has(sw.key) ? true : undefined) },
    configOf: () => ({}),
    activate,
    log: { info: () => {}, error: (message) => void errors.push(message) },
    patience: 300,
  })
  const flip = async (key: string, value: boolean) => {
    if (value) off.add(key)
    else off.delete(key)
    await host.reconcile()
  }
  const stateOf = (name: string) => host.status().find((status) => status.name === name)
  return { host, flip, stateOf, errors }
}

t.test('order follows needs, whatever the list says', async (t) => {
  const house = plugin('house', { needs: { nails: Nails, wood: maybe(Wood) } })
  const nails = plugin('nails', { provides: [Nails] })
  const wood = plugin('wood', { provides: [Wood] })
  t.strictSame(
    orderPlugins([house, nails, wood]).map((p) => p.name),
    ['nails', 'wood', 'house'],
  )
})

t.test('mistakes in declarations are named', async (t) => {
  const a = plugin('a', { needs: { nails: Nails }, provides: [Wood] })
  const b = plugin('b', { needs: { wood: Wood }, provides: [Nails] })
  t.throws(() => orderPlugins([a, b]), new PluginError('plugins need each other in a circle: a → b → a'))
  t.throws(() => orderPlugins([a, plugin('a')]), new PluginError('two plugins are named a'))
  t.throws(
    () => orderPlugins([plugin('x', { provides: [Wood] }), plugin('y', { provides: [Wood] })]),
    new PluginError('both x and y provide wood.wood'),
  )
})

t.test('an optional need may point back: the circle is cut there', async (t) => {
  const a = plugin('a', { needs: { wood: maybe(Wood) }, provides: [Nails] })
  const b = plugin('b', { needs: { nails: Nails }, provides: [Wood] })
  t.strictSame(
    orderPlugins([b, a]).map((p) => p.name),
    ['a', 'b'],
  )
})

t.test('effects are undone in reverse, and services and points go with them', async (t) => {
  const trace: string[] = []
  const nails = plugin('nails', {
    provides: [Nails],
    start(scope) {
      scope.provide(Nails, { count: 3 })
      scope.contribute(Tools, 'hammer')
      scope.effect('first', () => void trace.push('first'))
      scope.effect('second', () => void trace.push('second'))
    },
  })
  const { host, flip, stateOf } = hostOf([nails])
  await host.reconcile()
  t.equal(host.registry.find(Nails)?.count, 3)
  t.strictSame(host.registry.entries(Tools), ['hammer'])
  t.strictSame(stateOf('nails')?.effects, ['service nails.nails', 'entry of shed.tools', 'first', 'second'])
  await flip('DISABLE_NAILS', true)
  t.strictSame(trace, ['second', 'first'])
  t.equal(host.registry.find(Nails), undefined)
  t.strictSame(host.registry.entries(Tools), [])
  t.match(stateOf('nails'), { state: 'off', why: 'DISABLE_NAILS (set at run time)', effects: [] })
})

t.test('turned on and off many times, a plugin holds what it held the first time', async (t) => {
  const nails = plugin('nails', { provides: [Nails], start: (scope) => scope.provide(Nails, { count: 1 }) })
  const { host, flip, stateOf } = hostOf([nails], (p, scope) => scope.effect(`routes of ${p.name}`, () => {}))
  await host.reconcile()
  const before = stateOf('nails')?.effects
  for (let i = 0; i < 100; i++) await flip('DISABLE_NAILS', i % 2 === 0)
  await flip('DISABLE_NAILS', false)
  t.strictSame(stateOf('nails')?.effects, before)
})

t.test('dependents go off with what they need, and come back with it', async (t) => {
  const trace: string[] = []
  const nails = plugin('nails', {
    provides: [Nails],
    start(scope) {
      scope.provide(Nails, { count: 1 })
      scope.effect('n', () => void trace.push('nails'))
    },
  })
  const house = plugin('house', {
    needs: { nails: Nails },
    start: (scope) => scope.effect('h', () => void trace.push('house')),
  })
  const garden = plugin('garden', { needs: { nails: maybe(Nails) } })
  const { host, flip, stateOf } = hostOf([house, garden, nails])
  await host.reconcile()
  await flip('DISABLE_NAILS', true)
  t.strictSame(trace, ['house', 'nails'], 'the one that needs it goes first')
  t.match(stateOf('house'), { state: 'off', why: 'nails is off' })
  t.match(stateOf('garden'), { state: 'on' }, 'an optional need keeps nobody off')
  await flip('DISABLE_NAILS', false)
  t.match(stateOf('house'), { state: 'on' })
})

t.test('a need that nothing provides keeps a plugin off and says so', async (t) => {
  const { host, stateOf } = hostOf([plugin('house', { needs: { nails: Nails } })])
  await host.reconcile()
  t.match(stateOf('house'), { state: 'off', why: 'nothing provides nails.nails' })
})

t.test('a failing start undoes itself and leaves the rest serving', async (t) => {
  const trace: string[] = []
  let fails = true
  const bad = plugin('bad', {
    start(scope) {
      scope.effect('half', () => void trace.push('undone'))
      if (fails) throw new Error('no nails')
    },
  })
  const { host, stateOf, errors } = hostOf([bad, plugin('good')])
  await host.reconcile()
  t.strictSame(trace, ['undone'])
  t.match(stateOf('bad'), { state: 'off', why: 'start failed: no nails', effects: [] })
  t.match(stateOf('good'), { state: 'on' })
  t.equal(host.gate('bad').face()?.status, 503, 'this is not what the operator chose, so it is no 403')
  t.equal(errors.length, 1)
  fails = false
  await host.reconcile()
  t.match(stateOf('bad'), { state: 'on' })
})

t.test('the gate closes at once, and turn-off waits for who is inside, but not for ever', async (t) => {
  let undone = false
  const slow = plugin('slow', {
    switch: { section: 'x', key: 'DISABLE_SLOW', off: { status: 403, message: 'Slow is disabled.' } },
    start: (scope) =>
      scope.effect('e', () => {
        undone = true
      }),
  })
  const { host, flip } = hostOf([slow])
  await host.reconcile()
  const gate = host.gate('slow')
  gate.enter()
  const going = flip('DISABLE_SLOW', true)
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(gate.face(), { status: 403, message: 'Slow is disabled.' })
  t.equal(undone, false)
  gate.leave()
  await going
  t.equal(undone, true)

  await flip('DISABLE_SLOW', false)
  gate.enter()
  await flip('DISABLE_SLOW', true)
  t.equal(host.status()[0]?.state, 'off', 'one that never leaves does not hold the switch')
  gate.leave()
})

t.test('a hard need that is not there is named when it is read', async (t) => {
  const { host } = hostOf([])
  const use = host.registry.use({ nails: Nails, wood: maybe(Wood), tools: Tools }, 'house')
  t.throws(() => use.nails, new PluginError('house read nails.nails before anything provided it'))
  t.equal(use.wood, undefined)
  t.strictSame(use.tools, [])
})

t.test('tokens are plain values', async (t) => {
  t.strictSame(event('a.b'), { kind: 'event', id: 'a.b' })
  t.strictSame(maybe(Nails), { kind: 'maybe', service: Nails })
})
