import { Refusal } from '../../plugin/index.ts'
import { gitDate } from './commit.ts'
import type { GitRepo } from './git.ts'
import { isTagName } from './names.ts'

/** Who signs for something new; a date as ISO text keeps its offset, default: now. */
export type Signer = { readonly name: string; readonly email: string; readonly date?: string | Date | undefined }

/** Signs a commit or tag: gets what is to be signed, answers the armoured signature. */
export type Sign = (payload: string) => Promise<string>

export type NewCommit = {
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Signer
  readonly committer: Signer
  readonly message: string
  readonly sign?: Sign | undefined
}

/** `Name <mail> seconds offset`, without the characters that would end a field. */
export function signerLine({ name, email, date = new Date() }: Signer): string {
  const mail = clean(email)
  // git calls a commit broken that has no name at all.
  return `${clean(name) || mail || 'unknown'} <${mail}> ${gitDate(date)}`
}

function clean(text: string) {
  let kept = ''
  for (const letter of text) if (letter >= ' ' && letter !== '<' && letter !== '>' && letter !== '\x7f') kept += letter
  return kept.trim()
}

/** Writes a commit object and answers its id. No ref moves. */
export async function writeCommit(repo: GitRepo, commit: NewCommit): Promise<string> {
  const message = withLineEnd(commit.message)
  const headers = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${signerLine(commit.author)}`,
    `committer ${signerLine(commit.committer)}`,
  ].join('\n')
  const payload = `${headers}\n\n${message}`
  if (!commit.sign) return writeObject(repo, 'commit', payload)
  const field = commit.tree.length === 64 ? 'gpgsig-sha256' : 'gpgsig'
  const signature = (await commit.sign(payload)).trimEnd().replaceAll('\n', '\n ')
  return writeObject(repo, 'commit', `${headers}\n${field} ${signature}\n\n${message}`)
}

export type NewTag = {
  readonly name: string
  readonly object: string
  readonly objectType: string
  readonly tagger: Signer
  readonly message: string
  readonly sign?: Sign | undefined
}

/** Writes the object of an annotated tag and answers its id; create refs/tags/<name> with updateRefs. */
export async function writeTag(repo: GitRepo, tag: NewTag): Promise<string> {
  if (!isTagName(tag.name)) throw new Refusal('invalid', `invalid tag name [name: ${tag.name}]`)
  const payload = `object ${tag.object}\ntype ${tag.objectType}\ntag ${tag.name}\ntagger ${signerLine(tag.tagger)}\n\n${withLineEnd(tag.message)}`
  return writeObject(repo, 'tag', tag.sign ? payload + (await tag.sign(payload)) : payload)
}

/** Writes a blob and answers its id. */
export function writeBlob(repo: GitRepo, data: Uint8Array): Promise<string> {
  return writeObject(repo, 'blob', data)
}

function writeObject(repo: GitRepo, type: string, data: string | Uint8Array) {
  return repo.text(['hash-object', '-t', type, '-w', '--stdin'], { input: data })
}

/** Messages end with a line feed and hold no NUL, which git would cut them at. */
export function withLineEnd(message: string): string {
  const text = message.replaceAll('\0', '')
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
