import { conflict, notFound, unprocessable } from '#core/http'
import { git } from '#core/repos'
import type { GitDataUse } from '../needs.ts'
import { tagPrefix } from '../presenters.ts'
import { clashingRef, findRefs, type RefRow } from '../queries.ts'
import { type ChangeBy, changeRefs, judge, refuseMirror } from './ref-changes.ts'

export type NewTag = {
  readonly name: string
  readonly message?: string | undefined
  readonly target?: string | undefined
}

/** Creates a tag; with a message an annotated one, in the name of the host. */
export async function createTag(use: GitDataUse, by: ChangeBy, { name, message, target }: NewTag): Promise<RefRow> {
  const { repo } = by.access
  refuseMirror(by.access)
  const open = use.repos.open(repo)
  const found = await git.resolveRevision(open, target || repo.default_branch)
  if (!found) {
    throw notFound(`target not found: object does not exist [id: ${target || repo.default_branch}, rel_path: ]`)
  }
  if (!git.isTagName(name)) throw unprocessable(`release tag name is not valid [tag_name: ${name}]`)
  const ref = tagPrefix + name
  const [taken] = await findRefs(use.db, repo.id, [ref])
  const exists = `tag already exists [name: ${name}]`
  if (taken) throw conflict(exists)
  const other = await clashingRef(use.db, repo.id, ref)
  if (other) throw conflict(`tag already exists [name: ${other.slice(tagPrefix.length)}]`)
  const change = { ref, from: null, to: found.commitId }
  await judge(use, [change], by, () => unprocessable('user not allowed to create protected tag'))
  const tagger = { name: 'Switchyard', email: `switchyard@${use.identity.noReplyDomain()}` }
  const to = message?.trim()
    ? await git.writeTag(open, { name, message, object: found.commitId, objectType: 'commit', tagger })
    : found.commitId
  await changeRefs(use, by, [{ ref, to, from: null }], { clash: () => exists })
  return findTag(use, by, name)
}

/** A tag by its short name. @throws Problem 404 */
export async function findTag(use: GitDataUse, { access }: ChangeBy, name: string): Promise<RefRow> {
  const [row] = await findRefs(use.db, access.repo.id, [tagPrefix + name])
  if (!row) throw notFound(`tag doesn't exist: ${name}`)
  return row
}

/** Deletes a tag that nothing holds and no rule keeps. */
export async function deleteTag(use: GitDataUse, by: ChangeBy, name: string): Promise<void> {
  refuseMirror(by.access)
  const [tag] = await findRefs(use.db, by.access.repo.id, [tagPrefix + name])
  if (!tag) throw notFound()
  const from = tag.object_id
  for (const holder of use.holders) {
    const why = await holder.holds(by.access.repo.id, name)
    if (why !== undefined) throw conflict(why)
  }
  const ref = tagPrefix + name
  await judge(use, [{ ref, from, to: null }], by, () => unprocessable('user not allowed to delete protected tag'))
  await changeRefs(use, by, [{ ref, to: null, from }])
}
