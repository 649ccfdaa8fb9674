import { existsSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Type } from '@sinclair/typebox'
import { ConfigErrors, type Entry, type Mistake, suggestion } from './config/index.ts'
import type { Plugin } from './contract/index.ts'
import { PluginError } from './plugin/index.ts'

/** The version of the plugin contract that this host offers. */
export const contractVersion = 1

export const pluginsConfig = {
  plugins: Type.Object({
    EXTRA: Type.Array(Type.String(), {
      default: [],
      description:
        'Further plugins: folders (a path that begins with . or /, relative to this file) or names of installed packages.',
    }),
  }),
}

/** What the parts of a plugin are. TypeScript checks it for our own; third-party ones may be JavaScript. */
const parts = {
  name: 'text',
  compat: 'text',
  summary: 'text',
  switch: 'object',
  config: 'object',
  needs: 'object',
  provides: 'list',
  entities: 'list',
  migrations: 'list',
  presents: 'list',
  routes: 'function',
  raw: 'function',
  listeners: 'function',
  jobs: 'function',
  schedules: 'function',
  commands: 'function',
  start: 'function',
} as const satisfies Record<keyof Plugin, 'text' | 'object' | 'list' | 'function'>

/** What stands in a configuration, and where. */
type Listed = Pick<Entry, 'text' | 'source'>

/**
 * Loads the plugins that `[plugins] EXTRA` lists: folders, relative to the file that lists them, or packages that are
 * installed there or beside Switchyard. Throws ConfigErrors that name every plugin which cannot be loaded, and why.
 *
 * @param taken names of plugins that are there already
 */
export async function loadExtraPlugins({ text, source }: Listed, taken: readonly string[]): Promise<Plugin[]> {
  shareRooms()
  const names = text.split(',').map((name) => name.trim())
  const base = source.kind === 'file' ? dirname(resolve(source.file)) : process.cwd()
  const mistakes: Mistake[] = []
  const plugins: Plugin[] = []
  for (const name of names.filter((name) => name !== '')) {
    try {
      const plugin = await loadPlugin(name, base)
      if ([...taken, ...plugins.map((other) => other.name)].includes(plugin.name)) {
        throw new PluginError(`a plugin named ${plugin.name} is there already`)
      }
      plugins.push(plugin)
    } catch (error) {
      mistakes.push({ source, text: `[plugins] EXTRA: ${name}: ${(error as Error).message}` })
    }
  }
  if (mistakes.length > 0) throw new ConfigErrors(mistakes)
  return plugins
}

let shared = false

/**
 * Lets plugins that lie elsewhere import `switchyard/core/<room>` and `switchyard/plugins/<name>`: always of the host
 * that runs, whatever is installed beside them. What there is to import, the exports of package.json say.
 */
function shareRooms(): void {
  if (shared) return
  shared = true
  registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith('switchyard/') || context.parentURL === import.meta.url) return next(specifier, context)
      const url = import.meta.resolve(specifier)
      if (!existsSync(fileURLToPath(url))) throw new PluginError(`${specifier} is nothing that this host offers`)
      return { url, shortCircuit: true }
    },
  })
}

async function loadPlugin(name: string, base: string): Promise<Plugin> {
  const url = isFolder(name) ? folderEntry(resolve(base, name)) : packageEntry(name, base)
  let module: { default?: unknown }
  try {
    module = await import(url)
  } catch (error) {
    throw new PluginError(`${fileURLToPath(url)} cannot be loaded: ${whyNot(error)}`)
  }
  const plugin = checkedPlugin(module.default)
  checkCompat(plugin)
  return plugin
}

const isFolder = (name: string) => name.startsWith('.') || isAbsolute(name)

function folderEntry(folder: string): string {
  const require = createRequire(join(folder, 'package.json'))
  for (const entry of ['./plugin.ts', './plugin.js', './plugin.mjs', '.']) {
    try {
      return pathToFileURL(require.resolve(entry)).href
    } catch {
      // The next spelling may be there; if none is, the message below names all.
    }
  }
  throw new PluginError(`${folder} has no plugin.ts, plugin.js or package.json with "main"`)
}

/** The address of what `import name` means to a file in `base`, or else to one of ours. */
function packageEntry(name: string, base: string): string {
  for (const folder of [base, import.meta.dirname]) {
    const parentURL = pathToFileURL(join(folder, 'package.json')).href
    const hook = registerHooks({ resolve: (specifier, context, next) => next(specifier, { ...context, parentURL }) })
    try {
      return import.meta.resolve(name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    } finally {
      hook.deregister()
    }
  }
  throw new PluginError(`no such package is installed, neither for ${base} nor beside Switchyard`)
}

function whyNot(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ((error as NodeJS.ErrnoException).code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') {
    return 'packages are JavaScript; TypeScript runs only outside node_modules'
  }
  return error.message
}

function checkedPlugin(value: unknown): Plugin {
  if (typeof value !== 'object' || value === null) {
    throw new PluginError('its default export is no plugin; write export default definePlugin({ … })')
  }
  for (const part of ['name', 'compat', 'summary']) {
    if (!(part in value)) throw new PluginError(`its plugin has no ${part}`)
  }
  for (const [part, given] of Object.entries(value)) {
    const kind = parts[part as keyof typeof parts]
    if (!kind) throw new PluginError(`"${part}" is no part of a plugin${suggestion(part, Object.keys(parts))}`)
    if (given !== undefined && kindOf(given) !== kind) throw new PluginError(`"${part}" must be a ${kind}`)
  }
  const plugin = value as Plugin
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(plugin.name)) {
    throw new PluginError(`its name "${plugin.name}" is not of the form my-plugin`)
  }
  return plugin
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return 'text'
  return Array.isArray(value) ? 'list' : typeof value
}

/** Refuses a plugin that was written for another contract. Ranges are `^1`, `1` or `>=1`. */
export function checkCompat(plugin: Pick<Plugin, 'name' | 'compat'>): void {
  const major = /^(?:\^|~|>=)?(\d+)/.exec(plugin.compat.trim())?.[1]
  if (Number(major) === contractVersion) return
  throw new PluginError(`${plugin.name} wants contract ${plugin.compat}, this host offers ${contractVersion}`)
}
