import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitRepo } from './git.ts'
import { updateRefs } from './refs.ts'

/** Bytes that the repository takes on disk. */
export async function repositorySize(repo: GitRepo): Promise<number> {
  return folderSize(repo.path)
}

async function folderSize(folder: string): Promise<number> {
  let total = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(goneAsEmpty)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) total += await folderSize(path)
    else total += (await lstat(path).catch(goneAsNothing))?.size ?? 0
  }
  return total
}

/** What git finds wrong with the repository, one line each; empty = sound. Dangling objects are nothing wrong. */
export async function checkRepository(repo: GitRepo): Promise<string[]> {
  const { code, stdout, stderr } = await repo.run(['fsck', '--full', '--no-dangling', '--no-progress'], {
    lane: 'transfer',
    accept: [0, 1, 2, 3, 4, 5, 6, 7, 128],
  })
  const lines = `${stdout.toString('utf8')}\n${stderr}`
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('notice:'))
  if (code !== 0) return lines.length > 0 ? lines : [`fsck ended with ${code}`]
  return lines.filter((line) => /^(?:error|fatal|missing|broken)/.test(line))
}

/** Is it time for maintainRepository? Every push leaves a pack, every small write a few loose objects. No process. */
export async function needsMaintenance(repo: GitRepo, packs = 20, loose = 2000): Promise<boolean> {
  const objects = join(repo.path, 'objects')
  const found = await readdir(join(objects, 'pack')).catch(goneAsEmpty)
  if (found.filter((name) => String(name).endsWith('.pack')).length > packs) return true
  // Object ids are evenly spread: one of the 256 folders tells about all of them.
  return (await readdir(join(objects, '17')).catch(goneAsEmpty)).length > loose / 256
}

export type MaintainOptions = {
  /** Repack everything and drop what nothing reaches for two weeks; else only join small packs. */
  readonly full?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** Packs objects and refs and writes the commit-graph. Readers and writers may go on meanwhile. */
export async function maintainRepository(repo: GitRepo, { full = false, signal }: MaintainOptions = {}): Promise<void> {
  const how = { lane: 'transfer', signal } as const
  if (full) await repo.run(['gc', '--quiet', '--prune=2.weeks.ago'], how)
  else {
    await repo.run(['pack-refs', '--all'], how)
    await repo.run(['repack', '-d', '--geometric=2', '--write-midx', '-q'], how)
    await repo.run(['prune-packed', '--quiet'], how)
  }
  await repo.run(['commit-graph', 'write', '--reachable', '--changed-paths', '--split', '--no-progress'], how)
}

/** What killed processes left: locks, half packs, quarantines, our own files. Answers the paths that it removed. */
export async function cleanRepository(repo: GitRepo, olderThan = 3_600_000): Promise<string[]> {
  const before = Date.now() - olderThan
  const removed: string[] = []

  async function look(folder: string, isLeftover: (name: string) => boolean, deep: boolean) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(goneAsEmpty)) {
      const path = join(folder, entry.name)
      if (isLeftover(entry.name)) {
        const info = await lstat(path).catch(goneAsNothing)
        if (info && info.mtimeMs < before) {
          await rm(path, { recursive: true, force: true })
          removed.push(path)
        }
      } else if (deep && entry.isDirectory()) await look(path, isLeftover, true)
    }
  }

  const isLock = (name: string) => name.endsWith('.lock')
  await look(repo.path, (name) => isLock(name) || name.startsWith('fast_import_crash_'), false)
  await look(join(repo.path, 'refs'), isLock, true)
  await look(join(repo.path, 'tmp'), () => true, false)
  const objects = join(repo.path, 'objects')
  await look(objects, (name) => name.startsWith('tmp_objdir-') || name.startsWith('tmp_obj_'), false)
  await look(join(objects, 'info'), (name) => isLock(name) || name.startsWith('tmp_'), true)
  await look(
    join(objects, 'pack'),
    (name) => isLock(name) || name.startsWith('tmp_') || name.startsWith('.tmp-'),
    false,
  )
  for (const entry of await readdir(objects).catch(goneAsEmpty)) {
    if (/^[0-9a-f]{2}$/.test(String(entry)))
      await look(join(objects, String(entry)), (name) => name.startsWith('tmp_obj_'), false)
  }
  return removed
}

/** Deletes every ref below a prefix of ours, e.g. `refs/switchyard/push/1/`. */
export async function dropRefs(repo: GitRepo, prefix: string): Promise<void> {
  const output = await repo.text(['for-each-ref', '--format=%(refname)', prefix])
  await updateRefs(repo, output === '' ? [] : output.split('\n').map((ref) => ({ ref, to: null })))
}

function goneAsEmpty(error: NodeJS.ErrnoException): never[] {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
  throw error
}

function goneAsNothing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}
