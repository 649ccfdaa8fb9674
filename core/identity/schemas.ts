import { type Static, type TSchema, Type } from '@sinclair/typebox'

const time = (description: string) => Type.String({ format: 'date-time', description })
const text = (description: string) => Type.String({ description })
const number = (description: string) => Type.Integer({ description })

/** The record of a user, with the fields that plugins add beyond the three that are always there. */
export function userSchema(added: Record<string, TSchema> = {}) {
  const { followers_count: _f, following_count: _g, starred_repos_count: _s, ...more } = added
  return Type.Object(
    {
      id: Type.Integer(),
      login: text('Name of the account.'),
      login_name: text('Name at the login source. Shown to oneself and to administrators.'),
      source_id: number('Login source; 0 for this host. Shown to oneself and to administrators.'),
      full_name: Type.String(),
      email: text('The primary address, or a placeholder when it is hidden from the caller.'),
      avatar_url: Type.String(),
      html_url: Type.String(),
      language: text('Shown to oneself and to administrators.'),
      is_admin: Type.Boolean({ description: 'Shown to oneself and to administrators.' }),
      last_login: time('1970-01-01T00:00:00Z for never, 0001-01-01T00:00:00Z when hidden from the caller.'),
      created: time('When the account was made.'),
      restricted: Type.Boolean({ description: 'Sees only what was explicitly granted.' }),
      active: Type.Boolean({ description: 'Shown to oneself and to administrators.' }),
      prohibit_login: Type.Boolean({ description: 'Shown to oneself and to administrators.' }),
      location: Type.String(),
      website: Type.String(),
      description: Type.String(),
      visibility: Type.Unsafe<'public' | 'limited' | 'private'>({
        type: 'string',
        enum: ['public', 'limited', 'private'],
      }),
      followers_count: number('Users who follow the account.'),
      following_count: number('Accounts that the user follows.'),
      starred_repos_count: number('Repositories that the user starred.'),
      ...more,
      username: text('The same as login.'),
    },
    { $id: 'User', description: 'A user, or an organisation where one stands in the place of a user.' },
  )
}
export const User = userSchema()
export type User = Static<typeof User>
