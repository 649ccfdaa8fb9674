import type { AccountRow, Identity } from '#core/identity'
import { noReplyAddress } from '#core/identity'
import type { git } from '#core/repos'
import type { ChangeFileOperation, CommonFileOptions } from './schemas.ts'

/** Author and committer of a commit: whoever was named, one for both when only one was, else the caller. */
export function peopleOf(me: AccountRow, wanted: CommonFileOptions, identity: Identity) {
  const own = {
    name: me.full_name || me.name,
    email: me.hide_email || !me.email ? noReplyAddress(me, identity.noReplyDomain()) : me.email,
  }
  const named = (person: CommonFileOptions['author']) =>
    person?.name || person?.email ? { name: person.name || own.name, email: person.email || own.email } : undefined
  const author = named(wanted.author)
  const committer = named(wanted.committer)
  return {
    author: { ...(author ?? committer ?? own), date: dateOf(wanted.dates?.author) },
    committer: { ...(committer ?? author ?? own), date: dateOf(wanted.dates?.committer) },
  } satisfies Record<string, git.Signer>
}

/** The year 1 is how some clients say that they name no date. */
const dateOf = (text: string | undefined) => (text && new Date(text).getUTCFullYear() > 1 ? text : undefined)

/** The message as it is stored: without blank ends, with the line of whoever signs it off. */
export function messageOf(wanted: CommonFileOptions, standard: string, committer: git.Signer): string {
  const text = (wanted.message ?? '').trim() || standard
  const trailer = wanted.signoff ? `\n\nSigned-off-by: ${committer.name} <${committer.email}>` : ''
  return `${text}${trailer}\n`
}

const verbs = { create: 'Add', update: 'Update', upload: 'Update', rename: 'Update', delete: 'Delete' } as const

/** What was done, where the client says nothing: `Add a, b`, a line for each kind of change. */
export function standardMessage(changes: readonly Pick<ChangeFileOperation, 'operation' | 'path'>[]): string {
  return ['Add', 'Update', 'Delete']
    .map((verb) => ({
      verb,
      paths: changes.filter(({ operation }) => verbs[operation as keyof typeof verbs] === verb),
    }))
    .filter(({ paths }) => paths.length > 0)
    .map(({ verb, paths }) => `${verb} ${paths.map(({ path }) => path).join(', ')}`)
    .join('\n')
}
