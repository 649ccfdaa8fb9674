import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Refusal } from '../../plugin/index.ts'
import type { GitRepo } from './git.ts'
import { isBranchName } from './names.ts'
import { listRefs, syncFolder } from './refs.ts'

export type ObjectFormat = 'sha1' | 'sha256'

export type InitOptions = { readonly defaultBranch: string; readonly objectFormat?: ObjectFormat | undefined }

/** Makes an empty bare repository, without templates and hooks, on disk when it returns. */
export async function initRepository(
  repo: GitRepo,
  { defaultBranch, objectFormat = 'sha1' }: InitOptions,
): Promise<void> {
  if (!isBranchName(defaultBranch)) throw new Refusal('invalid', `invalid branch name [name: ${defaultBranch}]`)
  await mkdir(dirname(repo.path), { recursive: true })
  await repo.run([
    'init',
    '--quiet',
    '--bare',
    '--template=',
    `--object-format=${objectFormat}`,
    `--initial-branch=${defaultBranch}`,
  ])
  for (const file of ['config', 'HEAD']) await syncFile(join(repo.path, file))
  for (const folder of ['objects', 'refs', '', '..']) await syncFolder(join(repo.path, folder))
}

async function syncFile(path: string) {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** sha1 or sha256, from the repository's own config; no process. */
export async function readObjectFormat(repo: GitRepo): Promise<ObjectFormat> {
  const config = await readFile(join(repo.path, 'config'), 'utf8')
  return /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 'sha256' : 'sha1'
}

/** Is there a repository at all? */
export async function repositoryExists(repo: GitRepo): Promise<boolean> {
  try {
    await readFile(join(repo.path, 'HEAD'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

export type CopyOptions = {
  /** Only this branch (and all tags, unless `tags` is false). */
  readonly branch?: string | undefined
  readonly tags?: boolean | undefined
  readonly defaultBranch: string
  readonly signal?: AbortSignal | undefined
}

/** Makes a full copy with its own objects (forks): branches and tags, nothing that the source keeps to itself. */
export async function copyRepository(source: GitRepo, target: GitRepo, options: CopyOptions): Promise<void> {
  await initRepository(target, { defaultBranch: options.defaultBranch, objectFormat: await readObjectFormat(source) })
  if (options.branch !== undefined && !isBranchName(options.branch)) {
    throw new Refusal('invalid', `invalid branch name [name: ${options.branch}]`)
  }
  const branches = `refs/heads/${options.branch ?? '*'}`
  await fetchInto(
    target,
    source,
    [`+${branches}:${branches}`, ...(options.tags === false ? [] : ['+refs/tags/*:refs/tags/*'])],
    options,
  )
}

/**
 * Brings objects and refs of one repository on this machine into another: refspecs as git knows them, with full
 * names on both sides (`+refs/heads/x:refs/pull/1/head`); an object id on the left works too.
 */
export async function fetchInto(
  target: GitRepo,
  source: GitRepo,
  refspecs: readonly string[],
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  for (const spec of refspecs) {
    if (!/^\+?(?:refs\/[^:]+|[0-9a-f]{40,64})(?::refs\/[^:]+)?$/.test(spec))
      throw new Refusal('invalid', `invalid refspec [${spec}]`)
  }
  await target.run(
    [
      'fetch',
      '--quiet',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      '--end-of-options',
      source.path,
      ...refspecs,
    ],
    {
      lane: 'transfer',
      deadline: 3_600_000,
      env: { GIT_ALLOW_PROTOCOL: 'file' },
      signal: options.signal,
    },
  )
}

/** Removes the folder for good: out of sight first, so that a crash in the middle leaves no half repository. */
export async function deleteRepository(repo: GitRepo): Promise<void> {
  repo.release()
  const away = join(dirname(repo.path), `.deleted-${randomUUID()}`)
  try {
    await rename(repo.path, away)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  await rm(away, { recursive: true, force: true, maxRetries: 3 })
}

/** No branch yet? */
export async function isEmptyRepository(repo: GitRepo): Promise<boolean> {
  return (await listRefs(repo, { prefixes: ['refs/heads/'], limit: 1 })).length === 0
}
