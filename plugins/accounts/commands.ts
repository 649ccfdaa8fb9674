import { type Command, CommandError, command, flag, number, rest, table, text } from '#core/cli'
import type { AccountRow, IdentityTables } from '#core/identity'
import { createCommand, scopesOf } from './commands/create.ts'
import type { AccountsUse } from './needs.ts'
import { hasSecondFactor } from './queries.ts'

const username = text('name of the user', { short: 'u', required: true })

/** What operators do with users on the command line. `use` is empty until a command runs. */
export function accountsCommands(use: AccountsUse): Command[] {
  return [
    createCommand(use),
    listCommand(use),
    changePasswordCommand(use),
    deleteCommand(use),
    tokenCommand(use),
    mustChangePasswordCommand(use),
  ]
}

async function userNamed(use: AccountsUse, name: string): Promise<AccountRow> {
  const account = await use.identity.accounts.byName(name)
  if (!account || account.kind === 'organization') throw new CommandError(`user does not exist [uid: 0, name: ${name}]`)
  return account
}

function listCommand(use: AccountsUse): Command {
  return command({
    name: ['admin', 'user', 'list'],
    summary: 'lists users',
    options: { admin: flag('only site administrators') },
    async run({ admin }, io) {
      const users = use.db
        .sql<IdentityTables>()
        .selectFrom('account')
        .select(['id', 'name', 'email', 'is_active', 'is_admin', hasSecondFactor.as('has_second_factor')])
        .where('kind', '=', 'individual')
        .orderBy('id')
      const rows = await (admin ? users.where('is_admin', '=', true) : users).execute()
      const heads = ['ID', 'Username', 'Email', 'IsActive', ...(admin ? [] : ['IsAdmin', '2FA'])]
      const cells = rows.map((user) =>
        [user.id, user.name, user.email, user.is_active, ...(admin ? [] : [user.is_admin, user.has_second_factor])].map(
          String,
        ),
      )
      for (const line of table([heads, ...cells])) io.out(line)
    },
  })
}

function changePasswordCommand(use: AccountsUse): Command {
  return command({
    name: ['admin', 'user', 'change-password'],
    summary: 'gives a user another password',
    options: {
      username,
      password: text('the new password', { short: 'p', required: true }),
      mustChangePassword: flag('the user must choose another one first', { default: true }),
    },
    async run({ username: name, password, mustChangePassword }, io) {
      const user = await userNamed(use, name)
      const hash = await use.identity.passwords.accept(password, 'change')
      await use.db.tx((tx) =>
        use.identity.accounts.edit(tx, user.id, { password: hash, must_change_password: mustChangePassword }),
      )
      io.out(`${user.name}'s password has been successfully updated!`)
    },
  })
}

function deleteCommand(use: AccountsUse): Command {
  return command({
    name: ['admin', 'user', 'delete'],
    summary: 'deletes a user; of id, name and address at least one, and all that are given must fit',
    options: {
      id: number('id of the user'),
      username: text('name of the user', { short: 'u' }),
      email: text('an address of the user', { short: 'e' }),
      purge: flag('deletes what the user owns, too'),
    },
    async run({ id, username: name, email, purge }, io) {
      const { accounts } = use.identity
      if (id === undefined && name === undefined && email === undefined) {
        throw new CommandError('You must provide the id, username or email of a user to delete')
      }
      const found = await Promise.all(
        [
          id === undefined ? [] : [accounts.byId(id)],
          name === undefined ? [] : [userNamed(use, name)],
          email === undefined ? [] : [accounts.byEmail(email)],
        ].map((asked) => Promise.all(asked)),
      )
      const users = found.flat()
      const user = users[0]
      if (!user || users.includes(undefined)) throw new CommandError('user does not exist')
      if (users.some((other) => other?.id !== user.id)) {
        throw new CommandError('id, username and email that were given do not belong to the same user')
      }
      await use.db.tx((tx) => accounts.remove(tx, user.id, { purge: purge ?? false }))
      io.out(`User '${user.name}' has been deleted.`)
    },
  })
}

function tokenCommand(use: AccountsUse): Command {
  return command({
    name: ['admin', 'user', 'generate-access-token'],
    summary: 'makes an access token for a user',
    options: {
      username,
      tokenName: text('name of the token', { short: 't', default: 'gitea-admin' }),
      scopes: text('its scopes, separated by commas', { default: 'all' }),
      raw: flag('prints the token and nothing else'),
    },
    async run({ username: name, tokenName, scopes, raw }, io) {
      const user = await userNamed(use, name)
      const wish = { name: tokenName, scopes: scopesOf(scopes) }
      const { value } = await use.db.tx((tx) => use.identity.tokens.create(tx, user.id, wish))
      io.out(raw ? value : `Access token was successfully created: ${value}`)
    },
  })
}

function mustChangePasswordCommand(use: AccountsUse): Command {
  return command({
    name: ['admin', 'user', 'must-change-password'],
    summary: 'makes users choose another password before they go on',
    options: {
      all: flag('all users', { short: 'A' }),
      exclude: text('users to leave out of all, separated by commas', { short: 'e' }),
      unset: flag('takes the demand back'),
    },
    arguments: { names: rest('names of users') },
    async run({ all, exclude, unset, names }, io) {
      if (!all && names.length === 0) throw new CommandError('name users, or say --all')
      if (all && names.length > 0) throw new CommandError('--all takes no names; --exclude leaves users out')
      if (exclude !== undefined && !all) throw new CommandError('--exclude goes with --all')
      const left = await Promise.all((exclude?.split(',') ?? []).map((name) => userNamed(use, name.trim())))
      const chosen = all ? await individuals(use) : await Promise.all(names.map((name) => userNamed(use, name)))
      const users = chosen.filter(({ id, kind }) => kind === 'individual' && !left.some((other) => other.id === id))
      const demand = !unset
      await use.db.tx(async (tx) => {
        for (const { id } of users) await use.identity.accounts.edit(tx, id, { must_change_password: demand })
      })
      io.out(`Updated ${users.length} users setting MustChangePassword to ${demand}`)
    },
  })
}

async function individuals(use: AccountsUse) {
  const users = use.db.sql<IdentityTables>().selectFrom('account').select(['id', 'kind'])
  return users.where('kind', '=', 'individual').orderBy('id').execute()
}
