import type { Database } from '#core/db'
import { anonymous, type Identity, type UserRecord } from '#core/identity'
import type { git } from '#core/repos'
import { commitMeta, commitUser } from '../commit-parts.ts'
import type { RepoLinks } from '../links.ts'
import type { CommitRecord, PayloadCommit, PayloadUser, Verification } from '../schemas.ts'
import { accountsByEmail } from './accounts.ts'
import { type Signed, unsigned, verifyAll } from './verification.ts'

export type { Signed } from './verification.ts'

export type CommitOptions = {
  /** From git.readChanges; fills `files` and `stats`, which are null without. */
  readonly changes?: ReadonlyMap<string, git.CommitChange> | undefined
  readonly files?: boolean | undefined
  readonly stats?: boolean | undefined
  /** False: `verification` is null. */
  readonly verification?: boolean | undefined
}

/** Shows commits. `use` is read at each call. */
export function createCommits(use: { readonly db: Database; readonly identity: Identity }) {
  const look = (base: string) => ({ as: anonymous, base, noReply: use.identity.noReplyDomain() })

  /** The accounts behind authors, committers and taggers, by lower-case address. */
  const accountsOf = (facts: readonly git.CommitFacts[], base = '') =>
    accountsByEmail(
      use.identity,
      facts.flatMap(({ author, committer }) => [author.email, committer.email]),
      look(base),
    )

  const verifyKnown = (signed: readonly Signed[], accounts: Accounts) => verifyAll(use.db, signed, accounts)

  return {
    /** `Commit` records, in the order of the facts. `links.base` is where the pictures of users are. */
    async present(
      links: RepoLinks & { readonly base?: string },
      facts: readonly git.CommitFacts[],
      options: CommitOptions = {},
    ): Promise<CommitRecord[]> {
      const accounts = await accountsOf(facts, links.base ?? originOf(links.page))
      const verified = options.verification === false ? [] : await verifyKnown(facts, accounts)
      return facts.map((commit, at) => commitRecord(links, commit, accounts, verified[at] ?? null, options))
    },

    /** `PayloadCommit` records: as branches and pushes show commits. `paths` of a push, by commit id. */
    async payloads(
      links: RepoLinks,
      facts: readonly git.CommitFacts[],
      changes?: ReadonlyMap<string, git.CommitChange>,
    ): Promise<PayloadCommit[]> {
      const accounts = await accountsOf(facts)
      const verified = await verifyKnown(facts, accounts)
      return facts.map((commit, at) =>
        payload(links, commit, accounts, verified[at] ?? unsigned, changes?.get(commit.id)),
      )
    },

    /** What is known of the signatures of commits or tags, in their order. */
    async verify(signed: readonly Signed[]): Promise<Verification[]> {
      if (!signed.some(({ signature }) => signature)) return signed.map(() => unsigned)
      const people = signed.flatMap(({ author, committer, tagger }) => [author, committer, tagger])
      const addresses = people.flatMap((person) => (person ? [person.email] : []))
      return verifyKnown(signed, await accountsByEmail(use.identity, addresses, look('')))
    },
  }
}
export type Commits = ReturnType<typeof createCommits>

type Accounts = ReadonlyMap<string, UserRecord>
const accountOf = (accounts: Accounts, { email }: git.Person) => accounts.get(email.toLowerCase()) ?? null
/** Pictures of users lie beside the repositories, two names up from a repository's page. */
const originOf = (page: string) => page.split('/').slice(0, -2).join('/')

function commitRecord(
  links: RepoLinks,
  commit: git.CommitFacts,
  accounts: Accounts,
  verification: Verification | null,
  { changes, files = true, stats = true }: CommitOptions,
): CommitRecord {
  const { id, author, committer, message } = commit
  const change = changes?.get(id)
  return {
    url: `${links.api}/git/commits/${id}`,
    sha: id,
    created: committer.date,
    html_url: `${links.page}/commit/${id}`,
    commit: {
      url: `${links.api}/git/commits/${id}`,
      author: commitUser(author),
      committer: commitUser(committer),
      message,
      // Clients know the commit's id in the place of the tree's.
      tree: commitMeta(links, 'trees', id, committer.date),
      verification,
    },
    author: accountOf(accounts, author),
    committer: accountOf(accounts, committer),
    parents: commit.parents.map((parent) => commitMeta(links, 'commits', parent)),
    files: change && files ? change.files.map(({ path, status }) => ({ filename: path, status })) : null,
    stats:
      change && stats
        ? {
            total: change.additions + change.deletions,
            additions: change.additions,
            deletions: change.deletions,
          }
        : null,
  }
}

function payloadUser(person: git.Person, accounts: Accounts): PayloadUser {
  return { name: person.name, email: person.email, username: accountOf(accounts, person)?.login ?? '' }
}

function payload(
  links: RepoLinks,
  { id, message, author, committer }: git.CommitFacts,
  accounts: Accounts,
  verification: Verification,
  change: git.CommitChange | undefined,
): PayloadCommit {
  const paths = (status: string) =>
    change ? change.files.filter((file) => file.status === status).map((file) => file.path) : null
  return {
    id,
    message,
    url: `${links.page}/commit/${id}`,
    author: payloadUser(author, accounts),
    committer: payloadUser(committer, accounts),
    verification,
    timestamp: author.date,
    added: paths('added'),
    removed: paths('removed'),
    modified: paths('modified'),
  }
}
