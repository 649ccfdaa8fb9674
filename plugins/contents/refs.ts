import { posix } from 'node:path'
import { notFound } from '#core/http'
import { git, type RepositoryRow } from '#core/repos'
import type { NamedRef } from './links.ts'

/** A ref of a request, found: what it is called and the commit behind it. */
export type FoundRef = NamedRef & { readonly commitId: string }

/** The refusal of a ref or path that leads to nothing, in the contract's words. */
export const noObject = (id: string, path: string) => notFound(`object does not exist [id: ${id}, rel_path: ${path}]`)

/** The path that a read means, cleaned: `a//b`, `./b` and `x/../b` are the same; '' is the top. */
export const cleanPath = (path: string) => posix.normalize(`/${path}`).replace(/^\/+|\/+$/g, '')

/**
 * The branch, the tag or the commit by its full id that a text names; the default branch for an empty text.
 * undefined when there is no such thing.
 */
export async function findRef(repo: git.GitRepo, row: RepositoryRow, text: string): Promise<FoundRef | undefined> {
  const found =
    text === ''
      ? await git.resolveBranch(repo, row.default_branch)
      : await git.resolveRevision(repo, text, { short: false })
  // HEAD and full names such as refs/heads/main are no refs of the contract.
  if (!found || found.kind === 'full' || (found.ref !== undefined && found.ref === text)) return undefined
  return { kind: found.kind, name: found.name, commitId: found.commitId }
}

/** Like findRef; 404 in the words of the contract. */
export async function requireRef(repo: git.GitRepo, row: RepositoryRow, text: string): Promise<FoundRef> {
  const found = await findRef(repo, row, text)
  if (!found) throw noObject(text || row.default_branch, '')
  return found
}

/** More parts than a ref has in practice: asking for each beginning of an endless path would cost too much. */
const longestRef = 32

/**
 * Which part of `<ref>/<path>` is the ref: a branch that the text begins with, else a tag, else a full commit id.
 * undefined when no beginning of it is one.
 */
export async function splitRef(repo: git.GitRepo, text: string): Promise<{ ref: FoundRef; path: string } | undefined> {
  const parts = text.split('/')
  const beginnings = parts.slice(0, -1).slice(0, longestRef)
  const names = beginnings.map((_part, index) => parts.slice(0, index + 1).join('/'))
  // Branches, then tags, then commits; of each kind there can be one only, as git lets no ref begin with another.
  const tries = [
    ...names.map((name) => ({ name, found: git.resolveBranch(repo, name) })),
    ...names.map((name) => ({ name, found: git.resolveTag(repo, name) })),
    ...names.slice(0, 1).map((name) => ({ name, found: commitOf(repo, name) })),
  ]
  for (const { name, found } of await Promise.all(tries.map(async (one) => ({ ...one, found: await one.found })))) {
    if (!found || found.kind === 'full') continue
    return { ref: { kind: found.kind, name, commitId: found.commitId }, path: text.slice(name.length + 1) }
  }
  return undefined
}

async function commitOf(repo: git.GitRepo, name: string) {
  if (!git.isObjectId(name)) return undefined
  const found = await git.resolveRevision(repo, name, { short: false })
  return found?.kind === 'commit' ? found : undefined
}
