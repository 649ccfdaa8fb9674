import { posix } from 'node:path'
import { git, type ReposTables } from '#core/repos'
import { detectLanguages, type FileSample, languageOf, type Templates } from '#plugins/templates'
import type { GitDataUse } from '../needs.ts'
import { keepMeasured, measuredCommit } from '../queries.ts'

/** Files of one repository that are looked at. */
const mostFiles = 100_000
/** Of a larger file the name alone decides. */
const largestRead = 512 * 1024
const headLength = 16_384
const licenseFile = /^(?:(?:un)?licen[cs]es?|copying|copyright)(?:[-._].*)?$/i

/** Finds out how large a repository is, what it is written in and under which licences it stands. */
export async function measure({ db, repos, templates }: GitDataUse, id: number, signal: AbortSignal): Promise<void> {
  const repo = repos.open({ id })
  if (!(await git.repositoryExists(repo))) return
  const size = await git.repositorySize(repo)
  const tables = db.sql<ReposTables>()
  const row = await tables
    .updateTable('repository')
    .set({ git_size: size })
    .where('id', '=', id)
    .returning('default_branch')
    .executeTakeFirst()
  if (!row || !templates) return
  const head = await git.resolveBranch(repo, row.default_branch)
  const commitId = head?.commitId ?? ''
  if ((await measuredCommit(db, id)) === commitId) return
  const languages = head ? await detectLanguages(samples(repo, commitId, signal)) : new Map<string, number>()
  const licenses = head ? await licensesIn(repo, commitId, templates) : []
  await db.tx((tx) => keepMeasured(tx, id, { commitId, languages, licenses }))
}

/** The files of a commit one after the other: never more than one is in memory. */
async function* samples(repo: git.GitRepo, commit: string, signal: AbortSignal): AsyncGenerator<FileSample> {
  const { entries } = await git.listTree(repo, commit, { recursive: true, limit: mostFiles })
  for (const { path, type, size, id } of entries) {
    signal.throwIfAborted()
    if (type !== 'file') continue
    const wanted = size <= largestRead && mayCount(path)
    const head = wanted ? await git.readBlob(repo, id, largestRead) : undefined
    if (head && !git.isText(head)) continue
    yield { path, size, ...(head ? { head: head.toString('utf8', 0, headLength) } : {}) }
  }
}

/** Only what may be code is worth a look inside. */
const mayCount = (path: string) => !posix.basename(path).includes('.') || languageOf({ path, size: 0 }) !== undefined

async function licensesIn(repo: git.GitRepo, commit: string, templates: Templates): Promise<string[]> {
  const entries = (await git.listDirectory(repo, commit)) ?? []
  const found = new Set<string>()
  for (const { name, type, id, size } of entries) {
    if (type !== 'file' || size > largestRead || !licenseFile.test(name)) continue
    const text = await git.readBlob(repo, id, largestRead)
    for (const license of text ? await templates.detectLicense(text.toString('utf8')) : []) found.add(license)
  }
  return [...found].sort()
}
