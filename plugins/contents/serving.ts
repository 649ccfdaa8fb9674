import { Readable } from 'node:stream'
import { answer, Problem } from '#core/http'
import { git } from '#core/repos'
import { contentTypeOf } from './content-type.ts'
import { inline } from './disposition.ts'

/** A file to serve as it is. */
export type Served = {
  readonly entry: git.TreeEntry
  readonly modified: Date | undefined
  readonly cacheControl: string
}

type Asked = { readonly headers: Readonly<Record<string, string | string[] | undefined>>; readonly method: string }
const header = ({ headers }: Asked, name: string) => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Dates in headers have seconds only. */
const seconds = (date: Date) => Math.floor(date.getTime() / 1000)

/** Whether the client has this very file already. */
export function isKnown(asked: Asked, etag: string, modified: Date | undefined): boolean {
  const tags = header(asked, 'if-none-match')
  if (tags !== undefined) return tags.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
  const since = Date.parse(header(asked, 'if-modified-since') ?? '')
  return modified !== undefined && !Number.isNaN(since) && seconds(modified) <= since / 1000
}

type Section = { readonly start: number; readonly end: number }

/** The one part of a file that the client wants: first and last byte. undefined: all of it. 416 for a part beyond. */
export function sectionOf(asked: Asked, size: number, etag: string, modified: Date | undefined): Section | undefined {
  const condition = header(asked, 'if-range')
  if (condition !== undefined && condition !== etag && condition !== modified?.toUTCString()) return undefined
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/.exec(header(asked, 'range') ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const [, from = '', to = ''] = match
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined
  if (start >= size || (from === '' && Number(to) === 0)) {
    throw new Problem(416, 'the range lies beyond the file', {}, { 'content-range': `bytes */${size}` })
  }
  return { start, end }
}

/** The first bytes of a stream, which gives them again to whoever reads it afterwards. */
async function peek(stream: Readable): Promise<Buffer> {
  for (;;) {
    const head = stream.read() as Buffer | null
    if (head !== null) {
      stream.unshift(head)
      return head
    }
    if (stream.readableEnded || stream.destroyed) return Buffer.alloc(0)
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error) => {
        stream.off('readable', settled).off('end', settled).off('close', settled).off('error', settle)
        if (error) reject(error)
        else resolve()
      }
      const settled = () => settle()
      stream.on('readable', settled).on('end', settled).on('close', settled).on('error', settle)
    })
  }
}

/** A part of a stream. Whoever leaves early, or never begins to read, ends the source too. */
function cut(stream: Readable, { start, end }: Section): Readable {
  async function* parts() {
    let at = 0
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const part = chunk.subarray(Math.max(0, start - at), Math.max(0, end + 1 - at))
      at += chunk.length
      if (part.length > 0) yield part
      if (at > end) return
    }
  }
  const part = Readable.from(parts(), { objectMode: false })
  part.once('close', () => stream.destroy())
  return part
}

/**
 * Answers with a file of any size: a stream that goes at the client's pace, the part of it that was asked for, or 304.
 * Whatever people upload is shown as text, as a picture or not at all, in a page that may run nothing.
 */
export async function serve(repo: git.GitRepo, served: Served, asked: Asked) {
  const { entry, modified, cacheControl } = served
  const etag = `"${entry.id}"`
  const about = {
    etag,
    ...(modified ? { 'last-modified': modified.toUTCString() } : {}),
    'cache-control': cacheControl,
    'x-gitea-object-type': entry.type,
  }
  if (isKnown(asked, etag, modified)) return answer(304, undefined, about)
  const section = sectionOf(asked, entry.size, etag, modified)
  const found = await git.streamBlob(repo, entry.id)
  if (!found) throw new Error(`blob ${entry.id} is not there although a tree names it`)
  try {
    const headers = {
      ...about,
      'content-type': contentTypeOf(await peek(found.stream)),
      'content-length': String(section ? section.end - section.start + 1 : entry.size),
      'content-disposition': inline(entry.name),
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      'access-control-expose-headers': 'Content-Disposition',
    }
    if (!section) return answer(200, found.stream, headers)
    const range = { 'content-range': `bytes ${section.start}-${section.end}/${entry.size}` }
    return answer(206, cut(found.stream, section), { ...headers, ...range })
  } catch (error) {
    found.stream.destroy()
    throw error
  }
}
