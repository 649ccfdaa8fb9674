import { PluginError } from './order.ts'
import type { Needs, Point, Service, Use } from './tokens.ts'

/** The live services and points behind the tokens. */
export type Registry = {
  provide<T>(token: Service<T>, value: T): () => void
  contribute<T>(token: Point<T>, value: T): () => void
  /** The service, or undefined while nothing provides it. */
  find<T>(token: Service<T>): T | undefined
  entries<T>(token: Point<T>): readonly T[]
  /** A record whose properties read the live values; a hard need that is not there throws with its name. */
  use<N extends Needs>(needs: N, owner: string): Use<N>
}

/** An empty registry. */
export function createRegistry(): Registry {
  const services = new Map<string, unknown>()
  const points = new Map<string, readonly unknown[]>()

  const registry: Registry = {
    provide(token, value) {
      if (services.has(token.id)) throw new PluginError(`${token.id} is provided already`)
      services.set(token.id, value)
      return () => services.delete(token.id)
    },
    contribute(token, value) {
      points.set(token.id, [...(points.get(token.id) ?? []), value])
      return () => {
        const rest = (points.get(token.id) ?? []).filter((entry) => entry !== value)
        points.set(token.id, rest)
      }
    },
    find: <T>(token: Service<T>) => services.get(token.id) as T | undefined,
    entries: <T>(token: Point<T>) => (points.get(token.id) ?? []) as readonly T[],
    use<N extends Needs>(needs: N, owner: string) {
      const use = {}
      for (const [key, token] of Object.entries(needs)) {
        const get = () => {
          if (token.kind === 'point') return registry.entries(token)
          if (token.kind === 'maybe') return registry.find(token.service)
          const value = registry.find(token)
          if (value === undefined) throw new PluginError(`${owner} read ${token.id} before anything provided it`)
          return value
        }
        Object.defineProperty(use, key, { get, enumerable: true })
      }
      return use as Use<N>
    },
  }
  return registry
}
