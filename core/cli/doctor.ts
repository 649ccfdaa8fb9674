import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../config/index.ts'
import { explain } from './errors.ts'
import type { Check, Finding } from './host.ts'

const oldestGit = [2, 39] as const
const leastFree = 1024 ** 3

/** The checks that need neither database nor plugins. */
export function localChecks(config: Config): Check[] {
  return [
    { name: 'git', run: checkGit },
    { name: 'data folder', run: () => checkFolder(config.paths.data) },
    { name: 'repositories folder', run: () => checkFolder(config.paths.repositories) },
    { name: 'storage folder', run: () => checkFolder(config.paths.storage) },
    { name: 'free space', run: () => checkSpace(config.paths.data) },
    { name: 'clock', run: checkClock },
  ]
}

async function checkGit(): Promise<Finding> {
  const { stdout } = await promisify(execFile)('git', ['--version'])
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? []
  const ok = Number(major) > oldestGit[0] || (Number(major) === oldestGit[0] && Number(minor) >= oldestGit[1])
  return { ok, detail: stdout.trim(), hint: `git ${oldestGit.join('.')} or newer is needed` }
}

async function checkFolder(folder: string): Promise<Finding> {
  const probe = join(folder, `.probe-${randomBytes(6).toString('hex')}`)
  await mkdir(folder, { recursive: true })
  await access(folder, constants.R_OK | constants.X_OK)
  await writeFile(probe, 'probe', { flag: 'wx', flush: true })
  await rm(probe)
  return { ok: true, detail: `${folder} can be written` }
}

async function checkSpace(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  return {
    ok: free >= leastFree,
    detail: `${(free / 1024 ** 3).toFixed(1)} GiB are free`,
    hint: 'pushes fail when the disk is full',
  }
}

/** Tokens, sessions and one-time codes expire by this clock. */
function checkClock(): Finding {
  const now = new Date()
  return {
    ok: now.getUTCFullYear() >= 2026,
    detail: now.toISOString(),
    hint: 'the clock is wrong; set it, or let NTP do it',
  }
}

/** Runs one check. Throwing counts as failing, with the error as detail. */
export async function examine(check: Check): Promise<Finding> {
  try {
    return await check.run()
  } catch (error) {
    return { ok: false, detail: explain(error) }
  }
}
