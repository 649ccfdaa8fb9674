import { Refusal } from '../../plugin/index.ts'
import { GitFailure, type GitProcess } from './run.ts'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'
export type ObjectInfo = { readonly id: string; readonly type: ObjectType; readonly size: number }
export type ObjectContent = ObjectInfo & { readonly data: Buffer }

/** One running `git cat-file --batch-command`. Answers come in the order of the questions. */
export type CatFile = {
  info(name: string): Promise<ObjectInfo | undefined>
  content(name: string): Promise<ObjectContent | undefined>
  /** Questions without an answer yet. */
  readonly busy: number
  readonly dead: boolean
  stop(): void
}

type Question = {
  readonly withContent: boolean
  readonly resolve: (answer: ObjectContent | undefined) => void
  readonly reject: (error: unknown) => void
}

const nothing = Buffer.alloc(0)

/** Speaks the protocol of cat-file on a started process. Questions of one tick travel together. */
export function createCatFile(process: GitProcess, onDeath: () => void, patience = 30_000): CatFile {
  const questions: Question[] = []
  let unsent = ''
  let dead = false
  let timer: NodeJS.Timeout | undefined
  const answers = createParser(
    (answer) => questions.shift()?.resolve(answer),
    () => questions[0]?.withContent ?? false,
  )

  function die(error: unknown) {
    if (dead) return
    dead = true
    clearTimeout(timer)
    process.stop()
    for (const question of questions.splice(0)) question.reject(error)
    onDeath()
  }

  process.stdout.on('data', (chunk: Buffer) => {
    try {
      answers.push(chunk)
    } catch (error) {
      die(error)
    }
    if (questions.length === 0) clearTimeout(timer)
    else watch()
  })
  process.done.then(
    (end) => die(new GitFailure('cat-file', end.code, end.stderr)),
    (error) => die(error),
  )

  /** The patience is for silence, not for a long line of questions. */
  function watch() {
    clearTimeout(timer)
    timer = setTimeout(() => die(new GitFailure('cat-file', null, '', 'deadline')), patience)
  }

  function ask(verb: 'info' | 'contents', name: string) {
    return new Promise<ObjectContent | undefined>((resolve, reject) => {
      // The protocol is a line; git's own syntax for revisions must stay out of it (names are checked by callers).
      if (/[\n\0]/.test(name)) return resolve(undefined)
      if (dead) return reject(new GitFailure('cat-file', null, '', 'stopped'))
      if (unsent === '') queueMicrotask(send)
      if (questions.length === 0) watch()
      questions.push({ withContent: verb === 'contents', resolve, reject })
      unsent += `${verb} ${name}\n`
    })
  }

  function send() {
    const lines = `${unsent}flush\n`
    unsent = ''
    process.stdin.write(lines)
  }

  return {
    info: (name) => ask('info', name),
    content: (name) => ask('contents', name),
    get busy() {
      return questions.length
    },
    get dead() {
      return dead
    },
    stop: () => die(new GitFailure('cat-file', null, '', 'stopped')),
  }
}

/** Cuts git's output into answers: `<id> <type> <size>\n`, then, when asked for, the content and a line feed. */
function createParser(answer: (content: ObjectContent | undefined) => void, withContent: () => boolean) {
  let chunks: Buffer[] = []
  let length = 0
  let header: ObjectInfo | undefined

  function joined() {
    const all = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
    chunks = [all]
    return all
  }
  function consume(count: number) {
    const rest = joined().subarray(count)
    chunks = rest.length > 0 ? [rest] : []
    length = rest.length
  }
  function readHeader(): boolean {
    const bytes = joined()
    const end = bytes.indexOf(10)
    if (end < 0) return false
    const line = bytes.toString('utf8', 0, end)
    consume(end + 1)
    const match = /^([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)$/.exec(line)
    if (match) header = { id: match[1] as string, type: match[2] as ObjectType, size: Number(match[3]) }
    else if (/ (missing|ambiguous)$/.test(line)) answer(undefined)
    else throw new GitFailure('cat-file', null, `unexpected line ${line.slice(0, 200)}`)
    return true
  }
  function readBody(info: ObjectInfo): boolean {
    const content = withContent()
    if (content && length < info.size + 1) return false
    const data = content ? joined().subarray(0, info.size) : nothing
    if (content) consume(info.size + 1)
    header = undefined
    answer({ ...info, data })
    return true
  }

  return {
    push(chunk: Buffer) {
      chunks.push(chunk)
      length += chunk.length
      while (header ? readBody(header) : length > 0 && readHeader()) {
        // One answer after the other, until bytes are missing.
      }
    },
  }
}

/** Guards memory: what is larger than the caller wants to hold is not read. */
export function refuseLarge(info: ObjectInfo, limit: number) {
  if (info.size > limit) throw new Refusal('too-large', `object is too large [id: ${info.id}, size: ${info.size}]`)
}
