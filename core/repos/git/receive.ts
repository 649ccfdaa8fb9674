import { once } from 'node:events'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import type { GitRepo } from './git.ts'
import { createPktReader, type PktReader } from './pktline.ts'
import { type Client, createClient, explain } from './receive-client.ts'
import { errorText, type PushResult, parseReport, type ReportedAs } from './receive-report.ts'
import {
  type Limits,
  type PushCommand,
  type PushRequest,
  readPushRequest,
  writePushRequest,
} from './receive-request.ts'
import { judge, type Push, tellRefusals, type Verdict } from './receive-verdict.ts'
import { readRef, syncFolder, syncRefFolders } from './refs.ts'
import type { GitProcess } from './run.ts'
import { advertise } from './transport.ts'

export type Landed = {
  /** Lines for the person who pushed. */
  readonly messages?: readonly string[] | undefined
  /** By the ref that the client named. */
  readonly reported?: ReadonlyMap<string, ReportedAs> | undefined
}

export type ReceiveOptions = {
  /** Asked before anything of the pack is read: one verdict per command. The new objects are not here yet. */
  readonly check: (push: Push) => Promise<readonly Verdict[]>
  /** Asked when the objects have arrived and no ref has moved; `repo` sees them. For rules that look at commits. */
  readonly verify?: ((push: Push, repo: GitRepo) => Promise<readonly Verdict[]>) | undefined
  /**
   * Told when refs have moved and are on disk, before the client hears of it; a throw shows the client a failure.
   * Also told when every ref failed, so that what `check` began can be ended. Not told when `check` accepted no ref.
   */
  readonly landed: (results: readonly PushResult[], push: Push) => Promise<Landed | undefined>
  readonly limits?: Limits | undefined
  /** A lasting conversation (SSH): the refs are advertised first. */
  readonly stateful?: boolean | undefined
  readonly protocol?: string | undefined
  readonly hide?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Serves a push. Never rejects: what goes wrong is told to the client in git's own words, a broken connection ends
 * it. A push whose objects have all arrived is finished even when its client is gone.
 */
export function receivePack(repo: GitRepo, body: Readable, options: ReceiveOptions): Readable {
  const out = new PassThrough({ highWaterMark: 256 * 1024 })
  // The other side may leave at any time.
  out.on('error', () => undefined)
  const client = createClient(out)
  body.on('error', () => undefined)
  receive(repo, body, options, client)
    .catch((error) => client.fatal(explain(error)))
    .finally(() => out.end())
  return out
}

async function receive(repo: GitRepo, body: Readable, options: ReceiveOptions, client: Client) {
  if (options.stateful) {
    const refs = await advertise(repo, 'git-receive-pack', { ...options, bare: true })
    for await (const chunk of refs) await client.emit(chunk)
  }
  const reader = createPktReader(body, 32 * 2 ** 20)
  const request = await readPushRequest(reader, options.limits ?? {})
  if (request.commands.length === 0) return
  client.use(request.capabilities)
  const push: Push = { commands: request.commands, options: request.options, atomic: request.atomic }
  const checked = await options.check(push)
  const verdicts = checked.map((verdict, index) => (isOurs(push.commands[index]) ? hidden : verdict))
  const refused = await tellRefusals(client, push, verdicts)
  const wanted = push.commands.filter(({ ref }) => !refused.has(ref))
  if (wanted.length === 0) {
    const rest = drain(reader)
    if (!options.stateful) await rest
    const results = withRefusals(push, refused)
    if (!checked.some(({ accept }) => accept)) return client.report('ok', results)
    return finish(repo, results, push, 'ok', options, client)
  }
  const names = new Map(push.commands.flatMap(({ ref }, index) => nameInGit(ref, verdicts[index])))
  const accepted = { ...request, commands: wanted }
  const run = await runGit(repo, reader, accepted, names, options, client, push).catch(async (error) => {
    // No git could be started. Whoever accepted the push must hear that it ended.
    await drain(reader)
    return { unpack: explain(error), refs: new Map<string, string | true>() }
  })
  const results = push.commands.map((command) => resultOf(command, names, run.refs, refused))
  await finish(repo, results, push, run.unpack, options, client)
}

/** Refs that only `as` of a verdict leads to. */
function isOurs(command: PushCommand | undefined) {
  return command?.ref.startsWith('refs/switchyard/')
}

const hidden: Verdict = { accept: false, message: '', scope: 'ref', reason: 'deny updating a hidden ref' }

function nameInGit(ref: string, verdict: Verdict | undefined): [string, string][] {
  return verdict?.accept && verdict.as ? [[ref, verdict.as]] : []
}

function withRefusals(push: Push, refused: ReadonlyMap<string, string>): PushResult[] {
  return push.commands.map((command) => ({ ...command, ok: false, reason: refused.get(command.ref) }))
}

/** Reads on, so that the client can finish its sentence and then listen. */
async function drain(reader: PktReader) {
  try {
    for await (const chunk of reader.rest()) void chunk
  } catch {
    // The client has left; there is nobody to tell.
  }
}

type GitRun = { readonly unpack: string; readonly refs: Map<string, string | true> }

async function runGit(
  repo: GitRepo,
  reader: PktReader,
  request: PushRequest,
  names: ReadonlyMap<string, string>,
  options: ReceiveOptions,
  client: Client,
  push: Push,
): Promise<GitRun> {
  const config: Record<string, string> = {}
  if (options.limits?.bytes) config['receive.maxInputSize'] = String(options.limits.bytes)
  if (options.verify) config['core.hooksPath'] = await repo.hooks()
  const process = await repo.start(['receive-pack', '--stateless-rpc', repo.path], {
    lane: 'transfer',
    config,
    side: options.verify !== undefined,
    signal: options.signal,
  })
  const pumped = pump(process, writePushRequest(request, request.commands, names), reader)
  const judged = options.verify ? judge(repo, process, push, options.verify, client) : undefined
  const report = await readGit(process, client)
  await process.done.catch(() => undefined)
  await judged
  if (!options.stateful) await pumped
  const parsed = await parseReport(report).catch(() => undefined)
  return {
    unpack: parsed?.unpack ?? 'failed',
    refs: parsed?.refs ?? (await lookAtRefs(repo, request.commands, names)),
  }
}

/** Git ended without a report: what the refs are now is the truth. */
async function lookAtRefs(repo: GitRepo, commands: readonly PushCommand[], names: ReadonlyMap<string, string>) {
  const refs = new Map<string, string | true>()
  for (const { ref, from, to } of commands) {
    const name = names.get(ref) ?? ref
    const now = (await readRef(repo, name))?.objectId ?? null
    refs.set(name, now === to && now !== from ? true : 'unpacker error')
  }
  return refs
}

async function pump(process: GitProcess, head: Buffer, reader: PktReader) {
  const { stdin } = process
  let open = true
  const closed = once(stdin, 'close').then(
    () => (open = false),
    () => (open = false),
  )
  try {
    stdin.write(head)
    for await (const chunk of reader.rest()) {
      // Git has heard enough; the rest is read all the same, or the client would never listen.
      if (!open || stdin.destroyed) continue
      if (!stdin.write(chunk)) await Promise.race([once(stdin, 'drain').catch(() => undefined), closed])
    }
  } catch {
    // The client broke off. Git sees its input end too early and takes back what it had stored.
  }
  stdin.end()
}

/** Forwards progress as it comes and keeps the report back. */
async function readGit(process: GitProcess, client: Client) {
  const report: Buffer[] = []
  const reader = createPktReader(process.stdout, Number.POSITIVE_INFINITY)
  try {
    for (let packet = await reader.next(); packet !== undefined; packet = await reader.next()) {
      if (typeof packet === 'string') continue
      if (packet[0] === 1) report.push(packet.subarray(1))
      else await client.progress(packet.subarray(1))
    }
  } catch {
    // Git was ended, or spoke nonsense in its last breath; the refs will tell.
  }
  for await (const chunk of reader.rest()) void chunk
  return Buffer.concat(report)
}

function resultOf(
  command: PushCommand,
  names: ReadonlyMap<string, string>,
  refs: ReadonlyMap<string, string | true>,
  refused: ReadonlyMap<string, string>,
): PushResult {
  const reason = refused.get(command.ref)
  if (reason !== undefined) return { ...command, ok: false, reason }
  const state = refs.get(names.get(command.ref) ?? command.ref) ?? 'unpacker error'
  return { ...command, ok: state === true, reason: state === true ? undefined : state }
}

async function finish(
  repo: GitRepo,
  results: readonly PushResult[],
  push: Push,
  unpack: string,
  options: ReceiveOptions,
  client: Client,
) {
  const alive = setInterval(() => void client.alive(), 5000)
  try {
    if (results.some(({ ok }) => ok)) {
      await Promise.all([syncFolder(join(repo.path, 'objects', 'pack')), syncFolder(join(repo.path, 'objects'))])
      await syncRefFolders(
        repo,
        results.filter(({ ok }) => ok).map(({ ref }) => ref),
      )
    }
    const landed = await options.landed(results, push)
    for (const message of landed?.messages ?? []) await client.progress(`${message}\n`)
    await client.report(unpack, results, landed?.reported)
  } catch (error) {
    await client.progress(errorText(explain(error)))
    await client.report(
      unpack,
      results.map((result) => ({ ...result, ok: false, reason: result.reason ?? 'could not be recorded' })),
    )
  } finally {
    clearInterval(alive)
  }
}
