import type { Readable } from 'node:stream'
import { Refusal } from '../../plugin/index.ts'
import type { GitRepo } from './git.ts'
import { readTreePath } from './names.ts'
import { isObjectId } from './revision.ts'
import { output, streamOf } from './run.ts'
import { findEntry } from './tree.ts'

export type ArchiveFormat = 'zip' | 'tar.gz' | 'bundle'

export type ArchiveOptions = {
  /** Folder that everything lies in, without slashes at its ends; '' for none. Not for bundles. */
  readonly prefix?: string | undefined
  /** Only these files and folders. Not for bundles. */
  readonly paths?: readonly string[] | undefined
}

/** A commit packed for download. Refusal('bad-request') for paths that do not exist or stand beside a bundle. */
export async function streamArchive(
  repo: GitRepo,
  commit: string,
  format: ArchiveFormat,
  options: ArchiveOptions = {},
): Promise<Readable> {
  if (!isObjectId(commit)) throw new Refusal('invalid', `not an object id [id: ${commit}]`)
  if (format === 'bundle') {
    if (options.paths?.length) throw new Refusal('bad-request', 'a bundle cannot be limited to paths')
    return streamBundle(repo, commit)
  }
  const paths = await Promise.all((options.paths ?? []).map((path) => existing(repo, commit, path)))
  const prefix = options.prefix ? [`--prefix=${options.prefix}/`] : []
  return repo.stream([
    'archive',
    `--format=${format}`,
    ...prefix,
    '--end-of-options',
    commit,
    ...paths.filter((path) => path !== ''),
  ])
}

async function existing(repo: GitRepo, commit: string, path: string) {
  if (!(await findEntry(repo, commit, path))) throw new Refusal('bad-request', `path does not exist [path: ${path}]`)
  return readTreePath(path) as string
}

/** git names refs in a bundle, and a commit has none: so the header is written here, the pack comes from git. */
async function streamBundle(repo: GitRepo, commit: string) {
  const refs = `${commit} refs/heads/bundle\n${commit} HEAD\n\n`
  const head = commit.length === 64 ? '# v3 git bundle\n@object-format=sha256\n' : '# v2 git bundle\n'
  const args = ['pack-objects', '--revs', '--stdout', '--delta-base-offset', '-q']
  const process = await repo.start(args, { lane: 'transfer' })
  process.stdin.end(`${commit}\n`)
  async function* parts() {
    yield Buffer.from(head + refs)
    yield* output(process, args)
  }
  return streamOf(process, parts())
}
