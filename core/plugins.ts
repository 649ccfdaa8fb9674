import { createRequire } from 'node:module'
import { isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Type } from '@sinclair/typebox'
import type { Plugin } from './contract/index.ts'
import { PluginError } from './plugin/index.ts'

/** The version of the plugin contract that this host offers. */
export const contractVersion = 1

export const pluginsConfig = {
  plugins: Type.Object({
    EXTRA: Type.Array(Type.String(), {
      default: [],
      description: 'Further plugins: folders (a path that begins with . or /) or names of installed packages.',
    }),
  }),
}

/**
 * Loads plugins that do not ship with the host.
 *
 * @param names folders, relative to `base`, or package names that resolve from there
 * @param base the folder that the configuration file lies in
 */
export async function loadExtraPlugins(names: readonly string[], base: string): Promise<Plugin[]> {
  return Promise.all(names.map((name) => loadPlugin(name, base)))
}

async function loadPlugin(name: string, base: string): Promise<Plugin> {
  const file = isFolder(name) ? folderEntry(resolve(base, name)) : packageEntry(name, base)
  let module: { default?: unknown }
  try {
    module = await import(pathToFileURL(file).href)
  } catch (error) {
    throw new PluginError(`[plugins] EXTRA: ${name} could not be loaded: ${(error as Error).message}`)
  }
  return checkedPlugin(module.default, name)
}

const isFolder = (name: string) => name.startsWith('.') || isAbsolute(name)

function folderEntry(folder: string): string {
  const require = createRequire(join(folder, 'package.json'))
  for (const entry of ['./plugin.ts', './plugin.js', './plugin.mjs', '.']) {
    try {
      return require.resolve(entry)
    } catch {
      // The next spelling may be there; if none is, the message below names all.
    }
  }
  throw new PluginError(`[plugins] EXTRA: ${folder} has no plugin.ts, plugin.js or package.json with "main"`)
}

function packageEntry(name: string, base: string): string {
  try {
    return createRequire(join(base, 'package.json')).resolve(name)
  } catch {
    throw new PluginError(`[plugins] EXTRA: the package ${name} is not installed where ${base} finds packages`)
  }
}

/** Checks what TypeScript checks for our own plugins: third-party ones may be JavaScript. */
function checkedPlugin(value: unknown, name: string): Plugin {
  const plugin = value as Partial<Plugin> | undefined
  const lacks = (['name', 'compat', 'summary'] as const).find((key) => typeof plugin?.[key] !== 'string')
  if (!plugin || lacks) throw new PluginError(`[plugins] EXTRA: ${name} has no default export with ${lacks ?? 'name'}`)
  checkCompat(plugin as Plugin)
  return plugin as Plugin
}

/** Refuses a plugin that was written for another contract. Ranges are `^1`, `1` or `>=1`. */
export function checkCompat(plugin: Pick<Plugin, 'name' | 'compat'>): void {
  const major = /^(?:\^|~|>=)?(\d+)/.exec(plugin.compat.trim())?.[1]
  if (Number(major) === contractVersion) return
  throw new PluginError(`${plugin.name} wants contract ${plugin.compat}, this host offers ${contractVersion}`)
}
