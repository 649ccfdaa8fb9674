/**
 * What ships, read from its declarations: a test over these lists covers a new plugin without knowing it.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { shippedPlugins } from '../../config/plugins.ts'
import type { Booted } from '../../core/boot.ts'
import type { Plugin } from '../../core/contract/index.ts'
import type { RawRoute, Route } from '../../core/http/index.ts'
import { hardNeedsOf, type Point, providersOf, type Service, switchOf } from '../../core/plugin/index.ts'

export const root = resolve(import.meta.dirname, '../..')

/** Folders below plugins/ that hold a plugin. */
export function pluginFolders(): string[] {
  const folders = readdirSync(join(root, 'plugins'))
  return folders.filter((name) => existsSync(join(root, 'plugins', name, 'plugin.ts'))).sort()
}

/** A plugin with all that it cannot do without, or the other way round: with all that cannot do without it. */
export function closureOf(name: string, direction: 'needs' | 'dependents', plugins = shippedPlugins): Set<string> {
  const providers = providersOf(plugins)
  const names = new Set([name])
  for (let size = 0; size !== names.size; ) {
    size = names.size
    for (const plugin of plugins) {
      const needed = hardNeedsOf(plugin, providers)
      if (direction === 'dependents' && needed.some((one) => names.has(one))) names.add(plugin.name)
      if (direction === 'needs' && names.has(plugin.name)) for (const one of needed) names.add(one)
    }
  }
  return names
}

export type OwnedRoute<R> = { readonly plugin: string; readonly route: R }

const useOf = (rooms: Booted, plugin: Plugin) => rooms.registry.use(plugin.needs ?? {}, plugin.name) as never

/** The REST routes of all plugins of a host. */
export function routesOf(rooms: Booted): OwnedRoute<Route>[] {
  return rooms.plugins.plugins.flatMap((plugin) =>
    (plugin.routes?.(useOf(rooms, plugin)) ?? []).map((route) => ({ plugin: plugin.name, route })),
  )
}

/** The routes of all plugins of a host that are outside the REST API. */
export function rawRoutesOf(rooms: Booted): OwnedRoute<RawRoute>[] {
  return rooms.plugins.plugins.flatMap((plugin) =>
    (plugin.raw?.(useOf(rooms, plugin)) ?? []).map((route) => ({ plugin: plugin.name, route })),
  )
}

/** Fills the parameters of a path as the contract writes it; those that `values` lacks get a word. */
export function fillPath(path: string, values: Readonly<Record<string, string>> = {}): string {
  return path.replace(/\{([^}+]+)\+?\}/g, (_all, name: string) => values[name] ?? 'nothing')
}

/** Turns a plugin's switch and waits until the host has followed. */
export async function turn(rooms: Booted, name: string, off: boolean): Promise<void> {
  const plugin = rooms.plugins.plugins.find((one) => one.name === name)
  if (!plugin) throw new Error(`no plugin is named ${name}`)
  const { section, key } = switchOf(plugin)
  await rooms.settings.set(section, key, off ? 'true' : null)
  await rooms.plugins.reconcile()
}

type Token = Service<unknown> | Point<unknown>
const isToken = (value: unknown): value is Token =>
  typeof value === 'object' &&
  value !== null &&
  'id' in value &&
  ['service', 'point'].includes((value as { kind?: string }).kind ?? '')

/** The services and points that core and plugins export. */
export async function knownTokens(): Promise<Token[]> {
  const files = ['core', 'plugins'].flatMap((top) =>
    readdirSync(join(root, top)).flatMap((name) =>
      ['index.ts', 'api.ts'].map((file) => join(root, top, name, file)).filter((path) => existsSync(path)),
    ),
  )
  const modules = await Promise.all(files.map((file) => import(file) as Promise<Record<string, unknown>>))
  const tokens = modules.flatMap((module) => Object.values(module).filter(isToken))
  return [...new Map(tokens.map((token) => [`${token.kind} ${token.id}`, token])).values()]
}
