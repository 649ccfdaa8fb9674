import type { RepoAccess } from '#core/repos'

const kept = /%(24|26|2B|3A|3D|40)/g
const escaped = /[!'()*]/g
const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

/** A path as it stands in an address: the characters of its segments escaped as the contract does, slashes kept. */
export const escapePath = (path: string) =>
  path
    .split('/')
    .map((segment) => encodeURIComponent(segment).replace(kept, decodeURIComponent).replace(escaped, hex))
    .join('/')

const escapeQuery = (text: string) => encodeURIComponent(text).replace(escaped, hex).replace(/%20/g, '+')

/** What a ref is called in addresses of pages. */
export type NamedRef = { readonly kind: 'branch' | 'tag' | 'commit'; readonly name: string }

/** Builds the addresses of what lies in a repository. `base` for pages, `root` for the API; no trailing slashes. */
export function createLinks({ owner, repo }: RepoAccess, { base, root }: { base: string; root: string }) {
  const page = `${base}/${owner.name}/${repo.name}`
  const api = `${root}/api/v1/repos/${owner.name}/${repo.name}`
  return {
    contents: (path: string, ref: string) => `${api}/contents/${escapePath(path)}?ref=${escapeQuery(ref)}`,
    blob: (id: string) => `${api}/git/blobs/${id}`,
    view: (path: string, { kind, name }: NamedRef) => `${page}/src/${kind}/${escapePath(name)}/${escapePath(path)}`,
    download: (path: string, { kind, name }: NamedRef) => `${page}/raw/${kind}/${escapePath(name)}/${escapePath(path)}`,
    commitPage: (id: string) => `${page}/commit/${id}`,
    commit: (id: string) => `${api}/git/commits/${id}`,
    tree: (id: string) => `${api}/git/trees/${id}`,
  }
}
export type Links = ReturnType<typeof createLinks>
