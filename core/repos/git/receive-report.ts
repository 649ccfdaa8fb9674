import { createPktReader, flush, pkt } from './pktline.ts'
import type { PushCommand } from './receive-request.ts'

/** How one ref of a push ended. */
export type PushResult = PushCommand & { readonly ok: boolean /** Why not. */; readonly reason: string | undefined }

/** What the client is told instead of what it asked for (a push to refs/for/main that made refs/pull/1/head). */
export type ReportedAs = {
  readonly ref: string
  readonly from?: string | null
  readonly to?: string | null
  readonly forced?: boolean
}

/** Git's own report: the state of the pack and of every ref that it names. undefined when there is none. */
export async function parseReport(
  bytes: Buffer,
): Promise<{ unpack: string; refs: Map<string, string | true> } | undefined> {
  if (bytes.length === 0) return undefined
  async function* once() {
    yield bytes
  }
  const reader = createPktReader(once(), bytes.length + 1)
  const refs = new Map<string, string | true>()
  let unpack = ''
  for (let packet = await reader.next(); packet !== undefined && packet !== 'flush'; packet = await reader.next()) {
    const line = packet.toString().replace(/\n$/, '')
    const match = /^(ok|ng) (\S+)(?: (.*))?$/s.exec(line)
    if (line.startsWith('unpack ')) unpack = line.slice(7)
    else if (match) refs.set(match[2] as string, match[1] === 'ok' ? true : (match[3] ?? 'failed'))
  }
  return { unpack, refs }
}

/** The report for the client, in version 1 or 2. */
export function formatReport(
  unpack: string,
  results: readonly PushResult[],
  second: boolean,
  reported: ReadonlyMap<string, ReportedAs> = new Map(),
): Buffer {
  const lines = [pkt(`unpack ${oneLine(unpack)}\n`)]
  for (const { ref, ok, reason } of results) {
    lines.push(pkt(ok ? `ok ${ref}\n` : `ng ${ref} ${oneLine(reason ?? 'failed')}\n`))
    const as = ok && second ? reported.get(ref) : undefined
    if (!as) continue
    lines.push(pkt(`option refname ${as.ref}\n`))
    if (as.from) lines.push(pkt(`option old-oid ${as.from}\n`))
    if (as.to) lines.push(pkt(`option new-oid ${as.to}\n`))
    if (as.forced) lines.push(pkt('option forced-update\n'))
  }
  return Buffer.concat([...lines, flush])
}

function oneLine(text: string) {
  return text.replace(/\s+/g, ' ').trim().slice(0, 500)
}

/** Git shows lines of the second band with `remote: ` before them; this is the frame that errors stand in. */
export function errorText(message: string): string {
  return `error:\n${message
    .split('\n')
    .map((line) => `error: ${line}\n`)
    .join('')}error:\n`
}
