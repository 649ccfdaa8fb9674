import type { ConfigSections, Face, Manifest, Scope } from './manifest.ts'
import { hardNeedsOf, orderPlugins, providersOf } from './order.ts'
import { createRegistry, type Registry } from './registry.ts'
import { readSwitch, type SwitchSettings, switchOf } from './switches.ts'

export type PluginState = 'on' | 'off' | 'starting' | 'stopping'

/** What `switchyard plugins` shows of a plugin. */
export type PluginStatus = {
  readonly name: string
  readonly summary: string
  readonly state: PluginState
  /** Why it is in that state: `default`, `DISABLE_STARS (app.ini:3)`, `repositories is off`, `start failed: …`. */
  readonly why: string
  /** Labels of what it holds, in the order in which it was taken. */
  readonly effects: readonly string[]
  /** Requests and jobs that are inside it at this moment. */
  readonly running: number
}

/** The door of a plugin, as routes and jobs meet it. */
export type Gate = {
  /** The answer to give instead of entering; undefined while the plugin is on. */
  face(): Face | undefined
  enter(): void
  leave(): void
}

export type PluginHost<M extends Manifest> = {
  readonly plugins: readonly M[]
  readonly registry: Registry
  gate(name: string): Gate
  status(): PluginStatus[]
  /** Turns plugins on and off until all are as their switches say. Calls are answered one after the other. */
  reconcile(): Promise<void>
  /** Turns everything off, last first. */
  stop(): Promise<void>
}

type Held = { readonly label: string; readonly undo: () => void | Promise<void> }
type Entry<M> = {
  readonly plugin: M
  state: PluginState
  why: string
  failed: boolean
  running: number
  effects: Held[]
  idle: (() => void) | undefined
}

export type HostOptions<M extends Manifest> = {
  readonly plugins: readonly M[]
  readonly settings: SwitchSettings
  readonly registry?: Registry
  configOf(plugin: M): Record<string, unknown>
  /** Adds what other rooms do for a plugin that is being turned on: listeners, jobs, presenters. */
  activate(plugin: M, scope: Scope): void | Promise<void>
  log: { info(message: string): void; error(message: string, error: unknown): void }
  /** How long turn-off waits for requests that are inside, in ms. */
  readonly patience?: number
}

/** The engine that turns plugins on and off. It knows no HTTP and no SQL. */
export function createPluginHost<M extends Manifest>(options: HostOptions<M>): PluginHost<M> {
  const plugins = orderPlugins(options.plugins)
  const providers = providersOf(plugins)
  const registry = options.registry ?? createRegistry()
  const entries = new Map<string, Entry<M>>()
  for (const plugin of plugins) {
    entries.set(plugin.name, {
      plugin,
      state: 'off',
      why: 'not started yet',
      failed: false,
      running: 0,
      effects: [],
      idle: undefined,
    })
  }
  const entryOf = (name: string) => {
    const entry = entries.get(name)
    if (!entry) throw new Error(`no plugin is named ${name}`)
    return entry
  }

  /** Why a plugin must be off now, or undefined. Its needs come before it in the order, so their state is settled. */
  const reasonOff = ({ plugin }: Entry<M>): string | undefined => {
    const sw = switchOf(plugin)
    const now = readSwitch(sw, options.settings)
    if (now.value) return `${sw.key} (${now.source})`
    const missing = Object.values(plugin.needs ?? {}).find(
      (need) => need.kind === 'service' && !providers.has(need.id) && registry.find(need) === undefined,
    )
    if (missing?.kind === 'service') return `nothing provides ${missing.id}`
    const off = hardNeedsOf(plugin, providers).find((name) => entryOf(name).state !== 'on')
    return off ? `${off} is off` : undefined
  }

  const undoAll = async (entry: Entry<M>) => {
    for (let held = entry.effects.pop(); held; held = entry.effects.pop()) {
      try {
        await held.undo()
      } catch (error) {
        options.log.error(`${entry.plugin.name}: could not undo "${held.label}"`, error)
      }
    }
  }

  const scopeFor = (entry: Entry<M>): Scope => {
    const { plugin } = entry
    const hold = (label: string, undo: Held['undo']) => void entry.effects.push({ label, undo })
    return {
      name: plugin.name,
      use: registry.use(plugin.needs ?? {}, plugin.name),
      config: options.configOf(plugin) as Scope<Record<never, never>, ConfigSections>['config'],
      provide: (token, value) => hold(`service ${token.id}`, registry.provide(token, value)),
      contribute: (token, value) => hold(`entry of ${token.id}`, registry.contribute(token, value)),
      effect: hold,
    }
  }

  const turnOn = async (entry: Entry<M>) => {
    entry.state = 'starting'
    entry.failed = false
    const scope = scopeFor(entry)
    try {
      await options.activate(entry.plugin, scope)
      await entry.plugin.start?.(scope as never)
      entry.state = 'on'
      const sw = switchOf(entry.plugin)
      entry.why = readSwitch(sw, options.settings).source
    } catch (error) {
      await undoAll(entry)
      entry.state = 'off'
      entry.failed = true
      entry.why = `start failed: ${error instanceof Error ? error.message : String(error)}`
      options.log.error(`${entry.plugin.name} could not start and stays off`, error)
    }
  }

  const settle = (entry: Entry<M>) =>
    new Promise<void>((resolve) => {
      if (entry.running === 0) return resolve()
      const timer = setTimeout(resolve, options.patience ?? 10_000)
      entry.idle = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const turnOff = async (entry: Entry<M>, why: string) => {
    if (entry.state !== 'on' && entry.state !== 'stopping') {
      entry.why = why
      entry.failed = false
      return
    }
    entry.state = 'stopping'
    entry.why = why
    await settle(entry)
    entry.idle = undefined
    await undoAll(entry)
    entry.state = 'off'
  }

  /** Whether `name` needs a plugin that is about to go, directly or not. */
  const dependsOn = (plugin: M, gone: Set<string>) => hardNeedsOf(plugin, providers).find((name) => gone.has(name))

  const pass = async () => {
    const gone = new Set<string>()
    const reasons = new Map<Entry<M>, string>()
    for (const entry of entries.values()) {
      const sw = switchOf(entry.plugin)
      const now = readSwitch(sw, options.settings)
      const lost = dependsOn(entry.plugin, gone)
      const why = now.value ? `${sw.key} (${now.source})` : lost ? `${lost} is off` : undefined
      if (!why) continue
      gone.add(entry.plugin.name)
      reasons.set(entry, why)
    }
    // Every door closes before the first plugin is undone, so that nothing enters what is half gone.
    for (const [entry] of reasons) if (entry.state === 'on') entry.state = 'stopping'
    for (const [entry, why] of [...reasons].reverse()) await turnOff(entry, why)
    for (const entry of entries.values()) {
      if (entry.state === 'on' || reasons.has(entry)) continue
      const why = reasonOff(entry)
      if (why) await turnOff(entry, why)
      else await turnOn(entry)
    }
  }

  let turn: Promise<void> = Promise.resolve()
  const inTurn = (work: () => Promise<void>) => {
    const next = turn.then(work)
    turn = next.catch(() => {})
    return next
  }

  return {
    plugins,
    registry,
    gate(name) {
      const entry = entryOf(name)
      const face = switchOf(entry.plugin).off
      const broken: Face = {
        status: 503,
        message: `The feature ${name} could not start. The operator finds the reason with "switchyard plugins".`,
      }
      return {
        face: () => (entry.state === 'on' ? undefined : entry.failed || entry.state === 'starting' ? broken : face),
        enter: () => void entry.running++,
        leave() {
          entry.running--
          if (entry.running === 0) entry.idle?.()
        },
      }
    },
    status: () =>
      [...entries.values()].map((entry) => ({
        name: entry.plugin.name,
        summary: entry.plugin.summary,
        state: entry.state,
        why: entry.why,
        effects: entry.effects.map((held) => held.label),
        running: entry.running,
      })),
    reconcile: () => inTurn(pass),
    stop: () =>
      inTurn(async () => {
        for (const entry of [...entries.values()].reverse()) await turnOff(entry, 'the host stops')
      }),
  }
}
