import type { RepoAccess, Viewer } from '#core/repos'

/** Where the parts of one repository are. */
export type RepoLinks = {
  /** Its address in the API, without a slash at its end. */
  readonly api: string
  /** Its page, without a slash at its end. */
  readonly page: string
}

/** The addresses of a repository for somebody who looks: `use.repos.viewer(actor, base)`. */
export function repoLinks({ links }: Viewer, { repo, owner }: Pick<RepoAccess, 'repo' | 'owner'>): RepoLinks {
  const name = `${owner.name}/${repo.name}`
  return { api: `${links.root}/api/v1/repos/${name}`, page: `${links.base}/${name}` }
}

/** A name as part of an address; its slashes stay. */
export const inPath = (name: string) => name.split('/').map(encodeURIComponent).join('/')
