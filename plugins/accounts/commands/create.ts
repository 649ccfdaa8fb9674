import { type Command, CommandError, command, flag, number, text } from '#core/cli'
import type { Tx } from '#core/db'
import type { IdentityTables, NewAccount } from '#core/identity'
import type { AccountsUse } from '../needs.ts'
import { given } from '../service/administration.ts'

const kinds: readonly string[] = ['individual', 'bot']

type Wish = {
  readonly userType: string
  readonly password: string | undefined
  readonly randomPassword: boolean | undefined
  readonly randomPasswordLength: number
  readonly mustChangePassword: boolean | undefined
  readonly accessToken: boolean | undefined
  readonly accessTokenName: string | undefined
  readonly accessTokenScopes: string | undefined
}

/** Refuses options that contradict each other. */
function checkWish(wish: Wish): void {
  const { userType, password, randomPassword, accessToken, accessTokenName, accessTokenScopes } = wish
  if (!kinds.includes(userType)) throw new CommandError(`invalid user type: ${userType}`)
  const isBot = userType === 'bot'
  if (isBot && (password !== undefined || randomPassword || wish.mustChangePassword !== undefined)) {
    throw new CommandError('password can only be set for individual users')
  }
  if (!isBot && (password === undefined) === !randomPassword) {
    throw new CommandError('must set either password or random-password flag')
  }
  if (!accessToken && (accessTokenName ?? accessTokenScopes) !== undefined) {
    throw new CommandError('access-token-name and access-token-scopes need the access-token flag')
  }
}

/** Scopes as an option carries them: separated by commas. */
export const scopesOf = (list: string) => list.split(',')

/** Whether no account exists yet. */
async function isFirst(tx: Tx): Promise<boolean> {
  return !(await tx.sql<IdentityTables>().selectFrom('account').select('id').limit(1).executeTakeFirst())
}

/** `admin user create` */
export function createCommand(use: AccountsUse): Command {
  return command({
    name: ['admin', 'user', 'create'],
    summary: 'makes a user or a bot',
    options: {
      username: text('name of the new user', { aliases: ['name'], required: true }),
      email: text('address of the new user', { required: true }),
      userType: text('individual or bot', { default: 'individual' }),
      password: text('password of the new user'),
      randomPassword: flag('makes a password and prints it'),
      randomPasswordLength: number('characters of the password that is made', { default: 12 }),
      admin: flag('makes the user a site administrator', { default: false }),
      mustChangePassword: flag('the user must choose another password first (true, except for the first user)'),
      restricted: flag('the user sees only what was explicitly granted'),
      fullname: text('name as it is shown'),
      accessToken: flag('makes an access token and prints it'),
      accessTokenName: text('name of the token (gitea-admin)'),
      accessTokenScopes: text('scopes of the token, separated by commas (all)'),
    },
    examples: [
      'admin user create --username ada --email ada@example.com --random-password --admin',
      'admin user create --username robot --email robot@example.com --user-type bot --access-token',
    ],
    async run(wish, io) {
      checkWish(wish)
      const { accounts, passwords, tokens } = use.identity
      const chosen = wish.randomPassword ? passwords.random(wish.randomPasswordLength) : wish.password
      const password = chosen === undefined ? undefined : await passwords.accept(chosen, 'change')
      const token = await use.db.tx(async (tx) => {
        const account: NewAccount = {
          kind: wish.userType as 'individual' | 'bot',
          name: wish.username,
          email: wish.email,
          is_admin: wish.admin,
          ...given({ password, full_name: wish.fullname, is_restricted: wish.restricted }),
          ...(password && { must_change_password: wish.mustChangePassword ?? !(await isFirst(tx)) }),
        }
        const { id } = await accounts.create(tx, account)
        if (!wish.accessToken) return undefined
        const scopes = scopesOf(wish.accessTokenScopes ?? 'all')
        return tokens.create(tx, id, { name: wish.accessTokenName ?? 'gitea-admin', scopes })
      })
      // Only now: what is printed must be true.
      if (wish.randomPassword) io.out(`generated random password is '${chosen}'`)
      io.out(`New user '${wish.username}' has been successfully created!`)
      if (token) io.out(`Access token was successfully created... ${token.value}`)
    },
  })
}
