import { type Static, type TSchema, Type } from '#core/http'

const optional = Type.Optional
const time = (description: string) => Type.String({ format: 'date-time', description })
const flag = (description: string) => optional(Type.Boolean({ description }))
const text = (maxLength: number, description: string) => optional(Type.String({ maxLength, description }))
const website = optional(Type.String({ maxLength: 255, rule: 'Url', description: 'An http or https address.' }))
const visibility = optional(
  Type.Unsafe<'public' | 'limited' | 'private'>({
    type: 'string',
    enum: ['public', 'limited', 'private'],
    description: 'Who may see the user: all, who is signed in, or administrators.',
  }),
)
const record = <P extends Record<string, TSchema>>($id: string, description: string, properties: P) =>
  Type.Object(properties, { $id, description })

export const Users = Type.Array(Type.Ref('User'))
export const ByName = Type.Object({ username: Type.String({ description: 'Name of the user.' }) })

export const UserSettings = record('UserSettings', 'What a user decided about his account.', {
  full_name: Type.String(),
  website: Type.String(),
  description: Type.String(),
  location: Type.String(),
  language: Type.String(),
  theme: Type.String(),
  diff_view_style: Type.String(),
  hide_email: Type.Boolean({ description: 'Others see a placeholder instead of the address.' }),
  hide_activity: Type.Boolean({ description: 'Others see nothing of what the user does.' }),
})

export const UserSettingsOptions = record('UserSettingsOptions', 'What a user changes of his account.', {
  full_name: text(100, 'Name as it is shown.'),
  website,
  description: text(255, 'A few words about the user.'),
  location: text(50, 'Where the user is.'),
  language: optional(Type.String()),
  theme: optional(Type.String()),
  diff_view_style: optional(Type.String()),
  hide_email: flag('Others shall see a placeholder instead of the address.'),
  hide_activity: flag('Others shall see nothing of what the user does.'),
})

export const Email = record('Email', 'An e-mail address of a user.', {
  email: Type.String(),
  verified: Type.Boolean(),
  primary: Type.Boolean({ description: 'The one that the host writes to.' }),
  user_id: Type.Integer({ description: 'Filled for administrators; otherwise 0.' }),
  username: Type.String({ description: 'Filled for administrators; otherwise empty.' }),
})

export const CreateEmailOption = record('CreateEmailOption', 'Addresses to add.', {
  emails: optional(Type.Array(Type.String(), { maxItems: 100 })),
})
export const DeleteEmailOption = record('DeleteEmailOption', 'Addresses to delete.', {
  emails: optional(Type.Array(Type.String(), { maxItems: 100 })),
})

export const UpdateUserAvatarOption = record('UpdateUserAvatarOption', 'A picture: png, jpeg, gif or webp.', {
  image: Type.String({ minLength: 1, description: 'The picture, base64.' }),
})

export const PublicKey = record('PublicKey', 'An SSH key of a user.', {
  id: Type.Integer(),
  key: Type.String({ description: 'As written in authorized_keys.' }),
  url: Type.String(),
  title: Type.String(),
  fingerprint: Type.String({ description: 'SHA256: and base64, as ssh-keygen prints it.' }),
  created_at: time('When it was added.'),
  last_used_at: time('When it was last used; when it was added, if never.'),
  user: optional(Type.Ref('User')),
  read_only: flag('Shown to its owner and to administrators.'),
  key_type: optional(Type.String({ description: 'Shown to its owner and to administrators.' })),
})

export const CreateKeyOption = record('CreateKeyOption', 'A new SSH key.', {
  title: Type.String({ maxLength: 255, description: 'How its owner calls it.' }),
  key: Type.String({ description: 'One line of an OpenSSH public key.' }),
  read_only: flag('Accepted and without effect on keys of users.'),
})

export const AccessToken = record('AccessToken', 'A personal access token.', {
  id: Type.Integer(),
  name: Type.String(),
  sha1: Type.String({ description: 'The token itself, in the answer that makes it; otherwise empty.' }),
  token_last_eight: Type.String(),
  scopes: Type.Array(Type.String()),
  created_at: time('0001-01-01T00:00:00Z in the answer that makes it.'),
  last_used_at: time('When it was last used; when it was made, if never.'),
})

export const CreateAccessTokenOption = record('CreateAccessTokenOption', 'A new personal access token.', {
  name: Type.String({ maxLength: 512, description: 'Unique among the tokens of the user.' }),
  scopes: optional(Type.Array(Type.String(), { maxItems: 100, description: 'all, public-only, read:X, write:X.' })),
})

export const UserMeta = record('UserMeta', 'A user in two fields.', { id: Type.Integer(), login: Type.String() })

export const CurrentAccessToken = record('CurrentAccessToken', 'The token that a request was made with.', {
  id: Type.Integer(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  created_at: time('When it was made.'),
  last_used_at: time('When it was last used.'),
  user: UserMeta,
})

export const CreateUserOption = record('CreateUserOption', 'A new user.', {
  username: Type.String({ maxLength: 40, rule: 'invalid username' }),
  email: Type.String({ maxLength: 254, rule: 'Email' }),
  password: text(255, 'Needed unless the user comes from a login source.'),
  full_name: text(100, 'Name as it is shown.'),
  login_name: text(254, 'Name at the login source.'),
  source_id: optional(Type.Integer({ description: 'Login source; 0 for this host.' })),
  must_change_password: flag('The user must choose another password first; true unless given.'),
  send_notify: flag('Tells the user by e-mail.'),
  restricted: flag('Sees only what was explicitly granted.'),
  visibility,
  created_at: optional(time('When the account was made, for users who come from elsewhere.')),
})
export type CreateUserOption = Static<typeof CreateUserOption>

export const EditUserOption = record('EditUserOption', 'Changes of a user. What is not given stays.', {
  login_name: Type.String({ maxLength: 254, description: 'Name at the login source.' }),
  source_id: Type.Integer({ default: 0, zero: true, description: 'Login source; 0 keeps the one that is set.' }),
  email: text(254, 'Replaces the primary address, which is deleted.'),
  full_name: text(100, 'Name as it is shown.'),
  password: text(255, 'A new password.'),
  must_change_password: flag('The user must choose another password first.'),
  website,
  location: text(50, 'Where the user is.'),
  description: text(255, 'A few words about the user.'),
  active: flag('Inactive users may not sign in.'),
  admin: flag('Site administrator.'),
  allow_git_hook: flag('May edit git hooks, where the host allows it.'),
  allow_import_local: flag('May import from the disk of the host, where the host allows it.'),
  max_repo_creation: optional(
    Type.Integer({
      minimum: -1,
      maximum: 1_000_000,
      description: 'Most repositories; -1 for the default of the host.',
    }),
  ),
  prohibit_login: flag('May not sign in.'),
  allow_create_organization: flag('May create organisations.'),
  restricted: flag('Sees only what was explicitly granted.'),
  visibility,
})
export type EditUserOption = Static<typeof EditUserOption>

export const RenameUserOption = record('RenameUserOption', 'Another name.', {
  new_username: Type.String({
    fieldName: 'NewName',
    description: 'The old one redirects to it until somebody takes it.',
  }),
})

export const UserFilters = Type.Object({
  source_id: optional(Type.Integer({ description: 'Only users of this login source.' })),
  login_name: optional(Type.String({ description: 'Only the user with this name at the login source.' })),
  q: optional(Type.String({ description: 'Part of name, full name or address.' })),
  visibility: optional(Type.String({ description: 'Only users of this visibility: public, limited or private.' })),
  is_active: flag('Only active, or only inactive users.'),
  is_admin: flag('Only administrators, or only others.'),
  is_restricted: flag('Only restricted users, or only others.'),
  is_2fa_enabled: flag('Only users with a second factor, or only others.'),
  is_prohibit_login: flag('Only users who may not sign in, or only others.'),
  sort: optional(Type.String({ description: 'name, created, updated or id; name unless given.' })),
  order: optional(Type.String({ description: 'asc or desc; read with sort.' })),
})
export type UserFilters = Static<typeof UserFilters>
