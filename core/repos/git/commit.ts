import { Refusal } from '../../plugin/index.ts'
import type { GitRepo } from './git.ts'

/** Who and when. `date` is ISO 8601 with the offset that was written: `2024-05-01T10:00:00+02:00`. */
export type Person = { readonly name: string; readonly email: string; readonly date: string }

/** What a commit says, ready for JSON (stored in git_ref.facts). */
export type CommitFacts = {
  readonly id: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Person
  readonly committer: Person
  readonly message: string
  /** Armoured OpenPGP or SSH signature. */
  readonly signature?: string
  /** What was signed; present with a signature. */
  readonly payload?: string
}

/** What an annotated tag says, ready for JSON. */
export type TagFacts = {
  readonly id: string
  /** The name inside the object; the ref may bear another. */
  readonly name: string
  readonly object: string
  readonly object_type: string
  /** Very old tags have none. */
  readonly tagger?: Person
  /** Without the signature. */
  readonly message: string
  readonly signature?: string
  readonly payload?: string
}

/** Commit and tag messages above this are refused rather than read. */
const limit = 4 * 2 ** 20

/** A commit by object id (or full ref name with `^{commit}`); undefined when there is none or it is no commit. */
export async function readCommit(repo: GitRepo, name: string): Promise<CommitFacts | undefined> {
  const object = await repo.objects.read(name, limit)
  return object?.type === 'commit' ? parseCommit(object.id, object.data) : undefined
}

/** Many commits at once, in the order asked. Throws Refusal('not-found') when one is missing. */
export function readCommits(repo: GitRepo, ids: readonly string[]): Promise<CommitFacts[]> {
  return Promise.all(
    ids.map(async (id) => {
      const commit = await readCommit(repo, id)
      if (!commit) throw new Refusal('not-found', `object does not exist [id: ${id}]`)
      return commit
    }),
  )
}

/** An annotated tag by the id of its tag object; undefined when that is none. */
export async function readTag(repo: GitRepo, id: string): Promise<TagFacts | undefined> {
  const object = await repo.objects.read(id, limit)
  return object?.type === 'tag' ? parseTag(object.id, object.data) : undefined
}

export function parseCommit(id: string, raw: Buffer): CommitFacts {
  const { headers, message, first, unsigned } = split(raw)
  const signature = first('gpgsig') ?? first('gpgsig-sha256')
  return {
    id,
    tree: first('tree') ?? '',
    parents: headers.filter(([key]) => key === 'parent').map(([, value]) => value),
    author: parsePerson(first('author') ?? ''),
    committer: parsePerson(first('committer') ?? ''),
    message,
    ...(signature && { signature: `${signature}\n`, payload: unsigned() }),
  }
}

export function parseTag(id: string, raw: Buffer): TagFacts {
  const { message, first } = split(raw)
  const tagger = first('tagger')
  const text = raw.toString('utf8')
  const start = /^-----BEGIN (PGP|SSH) (SIGNATURE|MESSAGE|SIGNED MESSAGE)-----$/m
  const inMessage = message.search(start)
  const inText = text.length - (message.length - inMessage)
  return {
    id,
    name: first('tag') ?? '',
    object: first('object') ?? '',
    object_type: first('type') ?? '',
    ...(tagger !== undefined && { tagger: parsePerson(tagger) }),
    message: inMessage < 0 ? message : message.slice(0, inMessage),
    ...(inMessage >= 0 && { signature: message.slice(inMessage), payload: text.slice(0, inText) }),
  }
}

type Header = [key: string, value: string]

/** Headers (continued lines joined), message in the encoding that it declares, and the text that was signed. */
function split(raw: Buffer) {
  const border = raw.indexOf('\n\n')
  const head = border < 0 ? raw : raw.subarray(0, border)
  const body = border < 0 ? Buffer.alloc(0) : raw.subarray(border + 2)
  const encoding = /^encoding (\S+)$/m.exec(head.toString('latin1'))?.[1]
  const lines = decode(head, encoding).replace(/\n$/, '').split('\n')
  const headers: Header[] = []
  for (const line of lines) {
    const last = headers.at(-1)
    if (line.startsWith(' ') && last) last[1] += `\n${line.slice(1)}`
    else {
      const space = line.indexOf(' ')
      headers.push(space < 0 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)])
    }
  }
  return {
    headers,
    message: decode(body, encoding),
    first: (key: string) => headers.find(([name]) => name === key)?.[1],
    unsigned: () => `${withoutSignature(head.toString('utf8'))}\n\n${body.toString('utf8')}`,
  }
}

/** The signature signs the commit without the header that carries it. */
function withoutSignature(head: string) {
  let inside = false
  return head
    .split('\n')
    .filter((line) => {
      inside = /^gpgsig(-sha256)? /.test(line) || (inside && line.startsWith(' '))
      return !inside
    })
    .join('\n')
}

function decode(bytes: Buffer, encoding: string | undefined) {
  if (encoding && !/^utf-?8$/i.test(encoding)) {
    try {
      return new TextDecoder(encoding).decode(bytes)
    } catch (error) {
      // A name that nobody knows: read it as what nearly everything is.
      if (!(error instanceof RangeError)) throw error
    }
  }
  return bytes.toString('utf8')
}

/** `Name <mail> 1714557600 +0200`; whatever is broken in it becomes empty or the epoch, as old histories need. */
export function parsePerson(line: string): Person {
  const open = line.indexOf('<')
  const close = line.lastIndexOf('>')
  const when = /(-?\d+)(?: ([+-])(\d{2})(\d{2}))?\s*$/.exec(line.slice(close + 1))
  return {
    name: (open < 0 ? line : line.slice(0, open)).trim(),
    email: open < 0 || close < open ? '' : line.slice(open + 1, close).trim(),
    date: isoWithOffset(Number(when?.[1] ?? 0), when?.[2] ?? '+', Number(when?.[3] ?? 0), Number(when?.[4] ?? 0)),
  }
}

function isoWithOffset(seconds: number, sign: string, hours: number, minutes: number) {
  const offset = (hours * 60 + minutes) * (sign === '-' ? -1 : 1)
  // Beyond the year 9999 a date has no usual text.
  const inRange = seconds > -62_135_596_800 && seconds < 253_402_214_400
  const local = new Date(((inRange ? seconds : 0) + (inRange ? offset * 60 : 0)) * 1000)
  const text = local.toISOString().slice(0, 19)
  if (offset === 0 || !inRange) return `${text}Z`
  return `${text}${sign}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`
}

/** The seconds and the offset as git writes them: `1714557600 +0200`. Accepts what Date reads; keeps a given offset. */
export function gitDate(date: string | Date): string {
  const time = new Date(date).getTime()
  if (Number.isNaN(time)) throw new Refusal('invalid', `invalid date [date: ${String(date)}]`)
  const zone = typeof date === 'string' ? /([+-]\d{2}):?(\d{2})$/.exec(date) : undefined
  const offset = zone && /T/.test(String(date)) ? `${zone[1]}${zone[2]}` : '+0000'
  return `${Math.max(0, Math.floor(time / 1000))} ${offset}`
}
