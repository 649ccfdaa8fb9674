/** How a declared path is spelled for the router, and which parameter takes the rest of the path. */
export type MountPath = { readonly url: string; readonly wild: string | undefined; readonly names: readonly string[] }

/**
 * `/repos/{owner}/{repo}/contents/{filepath+}` is `/repos/:owner/:repo/contents/*`.
 *
 * @param mount the router's own spelling, where `path` cannot be translated
 */
export function mountPath(path: string, mount?: string): MountPath {
  const names = [...path.matchAll(/\{([^}+]+)\+?\}/g)].map(([, name]) => name as string)
  const wild = /\{([^}+]+)\+\}$/.exec(path)?.[1]
  const url = mount ?? path.replace(/\{[^}+]+\+\}$/, '*').replace(/\{([^}]+)\}/g, ':$1')
  return { url, wild, names }
}

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Tests whether a path as sent belongs to a declared one, for telling 405 from 404. */
export function pathTest(path: string): RegExp {
  const pattern = path
    .split(/(\{[^}]+\})/)
    .map((part) => (part.startsWith('{') ? (part.endsWith('+}') ? '.*' : '[^/]+') : literal(part)))
    .join('')
  return new RegExp(`^${pattern}/?$`)
}
