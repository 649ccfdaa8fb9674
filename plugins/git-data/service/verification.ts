import type { Database } from '#core/db'
import type { IdentityTables, UserRecord } from '#core/identity'
import type { git } from '#core/repos'
import type { Verification } from '../schemas.ts'
import { readSshSignature } from './ssh-signature.ts'

/** A commit or an annotated tag, as far as its signature goes. */
export type Signed = {
  readonly author?: git.Person | undefined
  readonly committer?: git.Person | undefined
  readonly tagger?: git.Person | undefined
  readonly signature?: string | undefined
  readonly payload?: string | undefined
}

const refused = (reason: string, signature = '', payload = ''): Verification => ({
  verified: false,
  reason: `gpg.error.${reason}`,
  signature,
  signer: null,
  payload,
})

/** What is said of everything without a signature. */
export const unsigned = refused('not_signed_commit')

/**
 * Checks signatures, in their order. One query when some of them were made with SSH keys, none otherwise.
 *
 * @param accounts who has the addresses of committers, authors and taggers, by lower-case address
 */
export async function verifyAll(
  db: Database,
  all: readonly Signed[],
  accounts: ReadonlyMap<string, UserRecord>,
): Promise<Verification[]> {
  const signers = all.map(({ signature, committer, author, tagger }) =>
    signature?.startsWith('-----BEGIN SSH') ? peopleOf([committer, author, tagger], accounts) : [],
  )
  const keys = await keysOf(db, [...new Set(signers.flat().map(({ id }) => id))])
  return all.map((signed, at) => verifyOne(signed, signers[at] ?? [], keys))
}

function peopleOf(people: readonly (git.Person | undefined)[], accounts: ReadonlyMap<string, UserRecord>) {
  return people.flatMap((person) => (person ? (accounts.get(person.email.toLowerCase()) ?? []) : []))
}

/** Which account has a key, by the key's fingerprint. */
async function keysOf(db: Database, accountIds: readonly number[]): Promise<ReadonlyMap<string, number>> {
  if (accountIds.length === 0) return new Map()
  const rows = await db
    .sql<IdentityTables>()
    .selectFrom('ssh_key')
    .select(['fingerprint', 'account_id'])
    .where('account_id', 'in', accountIds)
    .execute()
  return new Map(rows.map((row) => [row.fingerprint, row.account_id]))
}

function verifyOne(
  { signature, payload = '' }: Signed,
  signers: readonly UserRecord[],
  keys: ReadonlyMap<string, number>,
): Verification {
  if (!signature) return unsigned
  const text = signature.trimEnd()
  // OpenPGP keys cannot be stored, so nobody has the one that such a signature was made with.
  if (!text.startsWith('-----BEGIN SSH')) return refused('no_gpg_keys_found', text, payload)
  const read = readSshSignature(text)
  if (!read) return refused('extract_sign', text, payload)
  const owner = keys.get(read.fingerprint)
  const signer = signers.find(({ id }) => id === owner)
  if (!signer) return refused('no_gpg_keys_found', text, payload)
  if (!read.signs(payload)) return refused('probable_bad_signature', text, payload)
  return {
    verified: true,
    reason: `${signer.login} / ${read.fingerprint}`,
    signature: text,
    signer: { name: signer.login, email: signer.email, username: signer.login },
    payload,
  }
}
