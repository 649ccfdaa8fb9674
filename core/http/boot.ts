import type { MountedRoute } from './mount.ts'
import { mountPath } from './mount-path.ts'
import type { MountedRaw } from './raw.ts'

/** A plugin declares something that the host cannot serve. */
export class BootError extends Error {
  constructor(plugin: string, route: string, what: string) {
    super(`plugin ${plugin}, ${route}: ${what}`)
    this.name = 'BootError'
  }
}

/** What is wrong with one REST route by itself, or undefined. */
function faultOf({ route }: MountedRoute): string | undefined {
  if (typeof route.access?.admit !== 'function') return 'declares no access'
  if (route.scope === undefined) return "declares no scope ('none' is one)"
  if (!route.operationId) return 'has no operationId'
  if (!route.path.startsWith('/')) return 'has a path that does not start with a slash'
  if (!Object.keys(route.answers ?? {}).some((status) => /^[23]\d\d$/.test(status)))
    return 'declares no successful answer'
  if (Object.values(route.answers).some((schema) => typeof schema !== 'object')) return 'has an answer without a schema'
  const { names } = mountPath(route.path, route.mount)
  const stray = Object.keys(route.params?.properties ?? {}).find((name) => !names.includes(name))
  if (stray !== undefined) return `declares the path parameter ${stray}, which its path does not have`
  if (route.body !== undefined && route.method === 'GET') return 'has a body although it is a GET'
  return undefined
}

/** Checks every route before anything is served, so that a mistake is found at boot and not by a client. */
export function checkRoutes(routes: readonly MountedRoute[], raw: readonly MountedRaw[]): void {
  const taken = new Map<string, string>()
  const claim = (what: string, plugin: string, name: string) => {
    const owner = taken.get(what)
    if (owner !== undefined) throw new BootError(plugin, name, `${what} is already taken by plugin ${owner}`)
    taken.set(what, plugin)
  }
  for (const mounted of routes) {
    const { plugin, route } = mounted
    const name = `${route.method} ${route.path}`
    const fault = faultOf(mounted)
    if (fault !== undefined) throw new BootError(plugin, name, fault)
    claim(`operationId ${route.operationId}`, plugin, name)
    claim(`${route.method} ${bare(mountPath(route.path, route.mount).url)}`, plugin, name)
  }
  for (const { plugin, route } of raw) {
    const name = `${String(route.method)} ${route.path}`
    if (typeof route.access?.admit !== 'function') throw new BootError(plugin, name, 'declares no access')
    if (route.scope === undefined) throw new BootError(plugin, name, "declares no scope ('none' is one)")
    if (route.path.startsWith('/api/v1/'))
      throw new BootError(plugin, name, 'belongs to the REST API: declare it there')
    for (const method of [route.method].flat())
      claim(`raw ${method} ${bare(mountPath(route.path, route.mount).url)}`, plugin, name)
  }
}

/** A mounted path without the names of its parameters: what makes two routes the same for the router. */
const bare = (url: string) => url.replace(/:[A-Za-z0-9_]+/g, ':')
