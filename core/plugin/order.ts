import type { Manifest } from './manifest.ts'
import type { Needs } from './tokens.ts'

/** A mistake in what plugins declare: the host does not boot with it. */
export class PluginError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PluginError'
  }
}

const hardNeeds = (needs: Needs = {}) => Object.values(needs).flatMap((n) => (n.kind === 'service' ? [n.id] : []))
const softNeeds = (needs: Needs = {}) => Object.values(needs).flatMap((n) => (n.kind === 'maybe' ? [n.service.id] : []))

/** Which plugin provides each service. Two providers of one service are a mistake. */
export function providersOf(plugins: readonly Manifest[]): Map<string, string> {
  const providers = new Map<string, string>()
  for (const plugin of plugins) {
    for (const token of plugin.provides ?? []) {
      const other = providers.get(token.id)
      if (other) throw new PluginError(`both ${other} and ${plugin.name} provide ${token.id}`)
      providers.set(token.id, plugin.name)
    }
  }
  return providers
}

/** Names of the plugins that `plugin` cannot do without, in the order of its needs. */
export function hardNeedsOf(plugin: Manifest, providers: Map<string, string>): string[] {
  return hardNeeds(plugin.needs).flatMap((id) => providers.get(id) ?? [])
}

/**
 * Sorts plugins so that each comes after those it needs; optional needs come first where no cycle forbids it.
 * Names that occur twice and cycles of hard needs are refused, a cycle with its path.
 */
export function orderPlugins<M extends Manifest>(plugins: readonly M[]): M[] {
  const byName = new Map<string, M>()
  for (const plugin of plugins) {
    if (byName.has(plugin.name)) throw new PluginError(`two plugins are named ${plugin.name}`)
    byName.set(plugin.name, plugin)
  }
  const providers = providersOf(plugins)
  const sorted = new Set<M>()
  const visit = (plugin: M, path: readonly string[]) => {
    if (sorted.has(plugin)) return
    if (path.includes(plugin.name)) {
      throw new PluginError(`plugins need each other in a circle: ${[...path, plugin.name].join(' → ')}`)
    }
    const here = [...path, plugin.name]
    for (const name of hardNeedsOf(plugin, providers)) visit(byName.get(name) as M, here)
    for (const id of softNeeds(plugin.needs)) {
      const other = byName.get(providers.get(id) ?? '')
      if (other && !here.includes(other.name) && !reaches(other, plugin.name, byName, providers)) visit(other, here)
    }
    sorted.add(plugin)
  }
  for (const plugin of plugins) visit(plugin, [])
  return [...sorted]
}

/** Whether `from` needs `target`, directly or through others. */
function reaches(
  from: Manifest,
  target: string,
  byName: Map<string, Manifest>,
  providers: Map<string, string>,
): boolean {
  const seen = new Set<string>()
  const walk = (plugin: Manifest): boolean =>
    hardNeedsOf(plugin, providers).some((name) => {
      if (name === target) return true
      if (seen.has(name)) return false
      seen.add(name)
      return walk(byName.get(name) as Manifest)
    })
  return walk(from)
}
