import { Readable } from 'node:stream'
import { Refusal } from '../../plugin/index.ts'

/** Git's framing: four hex digits of length, themselves included, then bytes; 0000 flushes. */
export const flush = Buffer.from('0000')

const largest = 65_520

export function pkt(payload: string | Uint8Array): Buffer {
  const bytes = Buffer.from(payload as string)
  if (bytes.length > largest - 4) throw new RangeError('a pkt-line holds at most 65516 bytes')
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** Bytes for a band of side-band-64k, cut as needed. */
export function band(number: 1 | 2 | 3, payload: string | Uint8Array, size = largest - 5): Buffer[] {
  const bytes = Buffer.from(payload as string)
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) {
    parts.push(pkt(Buffer.concat([Buffer.from([number]), bytes.subarray(at, at + size)])))
  }
  return parts
}

/** A line, without its framing; 'flush', 'delim' or 'end' for the packets that have no content. */
export type Packet = Buffer | 'flush' | 'delim' | 'end'

export type PktReader = {
  /** The next packet; undefined at a clean end of the input. Throws Refusal('bad-request') for what is none. */
  next(): Promise<Packet | undefined>
  /** What follows the packets read so far, as it comes. */
  rest(): AsyncGenerator<Buffer>
}

/** Reads packets from the head of a stream. `limit`: bytes that packets may take in all. */
export function createPktReader(input: AsyncIterable<Buffer> | Readable, limit: number): PktReader {
  // Whoever stops reading early leaves the stream to its owner: an SSH channel still has an answer to carry.
  const source: AsyncIterator<Buffer> =
    input instanceof Readable ? input.iterator({ destroyOnReturn: false }) : input[Symbol.asyncIterator]()
  let buffer: Buffer = Buffer.alloc(0)
  let used = 0

  async function fill(count: number) {
    const chunks = [buffer]
    let length = buffer.length
    while (length < count) {
      const { done, value } = await source.next()
      if (done) break
      chunks.push(value)
      length += value.length
    }
    if (chunks.length > 1) buffer = Buffer.concat(chunks)
    return length >= count
  }

  async function next(): Promise<Packet | undefined> {
    if (!(await fill(4))) {
      if (buffer.length === 0) return undefined
      throw new Refusal('bad-request', 'the packet ends too early')
    }
    const digits = buffer.toString('latin1', 0, 4)
    const size = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN
    if (Number.isNaN(size) || size === 3 || size > largest) throw new Refusal('bad-request', 'not a packet')
    if (size < 3) {
      buffer = buffer.subarray(4)
      return (['flush', 'delim', 'end'] as const)[size] as Packet
    }
    used += size
    if (used > limit) throw new Refusal('too-large', 'too many commands in one push')
    if (!(await fill(size))) throw new Refusal('bad-request', 'the packet ends too early')
    const payload = buffer.subarray(4, size)
    buffer = buffer.subarray(size)
    return payload
  }

  async function* rest() {
    if (buffer.length > 0) yield buffer
    buffer = Buffer.alloc(0)
    for (;;) {
      const { done, value } = await source.next()
      if (done) return
      yield value
    }
  }

  return { next, rest }
}
