import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { GitRepo } from './git.ts'
import { flush, pkt } from './pktline.ts'
import { readObjectFormat } from './repository.ts'
import { GitFailure, type GitProcess, output, streamOf } from './run.ts'

export type GitService = 'git-upload-pack' | 'git-receive-pack'

export type TransportOptions = {
  /** The `Git-Protocol` header or GIT_PROTOCOL: `version=2`. Anything malformed is ignored. */
  readonly protocol?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Refs (beginnings of names) that this client is not shown. */
  readonly hide?: readonly string[] | undefined
}

export function protocolVariables(protocol: string | undefined): Record<string, string> {
  return protocol && /^[0-9a-z]+=[0-9a-z]+(?::[0-9a-z]+=[0-9a-z]+)*$/i.test(protocol) ? { GIT_PROTOCOL: protocol } : {}
}

function hiding(hide: readonly string[] = []) {
  return hide.flatMap((prefix) => ['-c', `transfer.hideRefs=${prefix}`])
}

/** What version 2 offers depends on git and the object format alone; nobody needs a process for it. */
const offers = new Map<string, Promise<Buffer>>()

/**
 * The answer to GET info/refs?service=…: `# service=` line, then the refs (versions 0 and 1) or the capabilities
 * (version 2, no process). `bare` leaves the first line out, as SSH wants it.
 */
export async function advertise(
  repo: GitRepo,
  service: GitService,
  options: TransportOptions & { readonly bare?: boolean | undefined } = {},
): Promise<Readable> {
  const head = options.bare ? Buffer.alloc(0) : Buffer.concat([pkt(`# service=${service}\n`), flush])
  const variables = protocolVariables(options.protocol)
  const command = service.slice('git-'.length)
  // Receiving git must be able to write our own refs, so it hides them only here.
  const own = service === 'git-receive-pack' ? ['refs/switchyard'] : []
  const args = [...hiding([...own, ...(options.hide ?? [])]), command, '--http-backend-info-refs', repo.path]
  if (service === 'git-upload-pack' && /(?:^|:)version=2(?:$|:)/.test(variables.GIT_PROTOCOL ?? '')) {
    const format = await readObjectFormat(repo)
    const offer = offers.get(format) ?? repo.run(args, { env: variables }).then(({ stdout }) => stdout)
    offers.set(format, offer)
    offer.catch(() => offers.delete(format))
    return Readable.from([Buffer.concat([head, await offer])], { objectMode: false })
  }
  const process = await repo.start(args, { env: variables, signal: options.signal })
  process.stdin.end()
  async function* parts() {
    yield head
    yield* output(process, args)
  }
  return streamOf(process, parts())
}

export type UploadOptions = TransportOptions & {
  /** A lasting conversation (SSH) instead of one request and one answer. */
  readonly stateful?: boolean | undefined
}

/** Serves a fetch: body in, answer out, both as they come. The end of git is the end of the stream. */
export async function uploadPack(repo: GitRepo, body: Readable, options: UploadOptions = {}): Promise<Readable> {
  const mode = options.stateful ? [] : ['--stateless-rpc']
  return converse(
    repo,
    body,
    [...hiding(options.hide), 'upload-pack', '--strict', '--timeout=600', ...mode, repo.path],
    options,
  )
}

/** Serves `git archive --remote`. */
export async function uploadArchive(repo: GitRepo, body: Readable, options: TransportOptions = {}): Promise<Readable> {
  return converse(repo, body, ['upload-archive', repo.path], options)
}

async function converse(repo: GitRepo, body: Readable, args: readonly string[], options: TransportOptions) {
  const env = protocolVariables(options.protocol)
  const process = await repo.start(args, { lane: 'transfer', env, signal: options.signal })
  pipeline(body, process.stdin).catch((error: NodeJS.ErrnoException) => {
    // Git may have heard enough. A client that broke off leaves nobody to answer.
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') process.stop()
  })
  return streamOf(process, answer(process))
}

async function* answer(process: GitProcess) {
  yield* process.stdout as AsyncIterable<Buffer>
  // Git has told its client what was wrong; only an end that we forced must break the answer off.
  await process.done.catch((error) => {
    if (error instanceof GitFailure && error.reason !== 'exit') throw error
  })
}
