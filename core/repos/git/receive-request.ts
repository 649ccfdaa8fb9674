import { Refusal } from '../../plugin/index.ts'
import { isRefName } from './names.ts'
import { flush, type PktReader, pkt } from './pktline.ts'

/** What a client wants of one ref. Full name; null = the ref does not exist on that side. */
export type PushCommand = { readonly ref: string; readonly from: string | null; readonly to: string | null }

export type PushRequest = {
  readonly commands: readonly PushCommand[]
  /** `git push -o`. */
  readonly options: readonly string[]
  readonly atomic: boolean
  readonly shallow: readonly string[]
  readonly capabilities: ReadonlySet<string>
}

export type Limits = {
  /** Refs in one push. Default 50 000. */
  readonly commands?: number | undefined
  /** Bytes of the pack; 0 = no limit. */
  readonly bytes?: number | undefined
}

/** Reads what stands before the pack. Throws Refusal('bad-request') for what is no push. */
export async function readPushRequest(reader: PktReader, limits: Limits): Promise<PushRequest> {
  const commands: PushCommand[] = []
  const shallow: string[] = []
  let capabilities: ReadonlySet<string> = new Set()
  for (;;) {
    const packet = await reader.next()
    if (packet === 'flush' || packet === undefined) break
    if (typeof packet === 'string') throw new Refusal('bad-request', 'unexpected packet')
    const [line = '', offered] = packet.toString('utf8').split('\0')
    if (offered !== undefined && commands.length === 0) capabilities = new Set(offered.trim().split(' '))
    const text = line.replace(/\n$/, '')
    const known = /^shallow ([0-9a-f]{40,64})$/.exec(text)
    if (known) shallow.push(known[1] as string)
    else commands.push(parseCommand(text))
    if (commands.length > (limits.commands ?? 50_000)) throw new Refusal('too-large', 'too many refs in one push')
  }
  const options = commands.length > 0 && capabilities.has('push-options') ? await readOptions(reader) : []
  return { commands, options, shallow, capabilities, atomic: capabilities.has('atomic') }
}

function parseCommand(text: string): PushCommand {
  const match = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (.+)$/s.exec(text)
  if (!match || match[1]?.length !== match[2]?.length) throw new Refusal('bad-request', 'not a push command')
  const ref = match[3] as string
  if (!isRefName(ref)) throw new Refusal('bad-request', `funny refname ${JSON.stringify(ref.slice(0, 200))}`)
  return { ref, from: idOrNull(match[1] as string), to: idOrNull(match[2] as string) }
}

function idOrNull(id: string) {
  return /^0+$/.test(id) ? null : id
}

async function readOptions(reader: PktReader) {
  const options: string[] = []
  for (;;) {
    const packet = await reader.next()
    if (packet === 'flush' || packet === undefined) return options
    if (typeof packet === 'string') throw new Refusal('bad-request', 'unexpected packet')
    options.push(packet.toString('utf8').replace(/\n$/, ''))
    if (options.length > 1000) throw new Refusal('too-large', 'too many push options')
  }
}

/** Capabilities that are passed on to git; we add a report and side bands, which we need ourselves. */
const passedOn = /^(?:atomic|ofs-delta|quiet|push-options|object-format=sha(?:1|256)|agent=[!-~]{1,200}|delete-refs)$/

/** The request for git, with `refs` in place of the names that the client sent. */
export function writePushRequest(
  request: PushRequest,
  commands: readonly PushCommand[],
  refs: ReadonlyMap<string, string>,
): Buffer {
  const capabilities = [...request.capabilities].filter((capability) => passedOn.test(capability))
  const all = ['report-status', 'side-band-64k', ...capabilities].join(' ')
  // A command may name nothing on either side: the deletion of what is not there.
  const known = commands.map(({ from, to }) => from ?? to).find((id) => id !== null)
  const zero = '0'.repeat(known?.length ?? (request.capabilities.has('object-format=sha256') ? 64 : 40))
  const lines = commands.map(({ ref, from, to }, index) =>
    pkt(`${from ?? zero} ${to ?? zero} ${refs.get(ref) ?? ref}${index === 0 ? `\0 ${all}` : ''}`),
  )
  const options = request.capabilities.has('push-options')
    ? [...request.options.map((option) => pkt(option)), flush]
    : []
  return Buffer.concat([...request.shallow.map((id) => pkt(`shallow ${id}`)), ...lines, flush, ...options])
}
