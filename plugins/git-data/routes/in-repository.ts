import { repository, Type } from '#core/http'
import type { RepoAccess, Viewer } from '#core/repos'
import { repoLinks } from '../links.ts'
import type { GitDataUse } from '../needs.ts'

const owner = Type.String({ description: 'Name of the owner.' })
const repo = Type.String({ description: 'Name of the repository.' })
/** Path parameters of every route here. */
export const inRepo = { owner, repo }
export const InRepo = Type.Object(inRepo)

/** What the routes here have in common. */
export const about = { tag: 'repository', scope: ['repository'] } as const
export const reading = repository.read('code')
export const writing = repository.write('code', { frozen: 'archived' })

/** The addresses of the repository that a call is about. */
export const linksOf = (use: GitDataUse, call: { actor: Viewer['actor']; base: string; repo: RepoAccess }) => ({
  ...repoLinks(use.repos.viewer(call.actor, call.base), call.repo),
  base: call.base,
})

const flag = (description: string) => Type.Optional(Type.Boolean({ default: true, description }))
/** Which parts of commits a client wants. */
export const commitParts = {
  stat: flag('False leaves out how many lines changed.'),
  verification: flag('False leaves out the signature.'),
  files: flag('False leaves out the touched files.'),
}
