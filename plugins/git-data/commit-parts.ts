import type { git } from '#core/repos'
import type { CommitMeta, CommitUser } from './schemas.ts'

/** Stands where a time was not looked up. */
export const unknownTime = '0001-01-01T00:00:00Z'

/** Who and when, as git recorded it. */
export const commitUser = ({ name, email, date }: git.Person): CommitUser => ({ name, email, date })

/** A reference to an object: `kind` is its part of the address. */
export function commitMeta(
  { api }: { readonly api: string },
  kind: 'commits' | 'trees',
  sha: string,
  created: string = unknownTime,
): CommitMeta {
  return { url: `${api}/git/${kind}/${sha}`, sha, created }
}
