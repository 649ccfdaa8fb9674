import { once } from 'node:events'
import type { PassThrough } from 'node:stream'
import { Refusal } from '../../plugin/index.ts'
import { band, flush, pkt } from './pktline.ts'
import { formatReport, type PushResult, type ReportedAs } from './receive-report.ts'

export type Client = ReturnType<typeof createClient>

/** The side that talks to the client, with or without side bands. */
export function createClient(out: PassThrough) {
  let capabilities: ReadonlySet<string> = new Set()
  const sideBand = () => capabilities.has('side-band-64k') || capabilities.has('side-band')
  const size = () => (capabilities.has('side-band-64k') ? undefined : 995)

  async function emit(bytes: Uint8Array) {
    if (out.destroyed || out.writableEnded) return
    if (!out.write(bytes)) await Promise.race([once(out, 'drain'), once(out, 'close')]).catch(() => undefined)
  }

  return {
    emit,
    use(offered: ReadonlySet<string>) {
      capabilities = offered
    },
    async progress(text: string | Uint8Array) {
      if (sideBand()) for (const part of band(2, text, size())) await emit(part)
    },
    /** A packet without content keeps proxies from giving up. */
    alive: () => (sideBand() ? emit(pkt(Buffer.from([2]))) : Promise.resolve()),
    async report(unpack: string, results: readonly PushResult[], reported?: ReadonlyMap<string, ReportedAs>) {
      const second = capabilities.has('report-status-v2')
      if (second || capabilities.has('report-status')) {
        const report = formatReport(unpack, results, second, reported)
        for (const part of sideBand() ? band(1, report, size()) : [report]) await emit(part)
      }
      if (sideBand()) await emit(flush)
    },
    fatal: (message: string) => emit(sideBand() ? Buffer.concat(band(3, `${message}\n`)) : pkt(`ERR ${message}\n`)),
  }
}

/** What the client may know of an error. */
export function explain(error: unknown) {
  return error instanceof Refusal ? error.message : 'the push could not be finished, try again'
}
