import { type Static, Type } from '@sinclair/typebox'

const visibilities = ['public', 'limited', 'private'] as const
export type VisibilityMode = (typeof visibilities)[number]
export const isVisibility = (text: string): text is VisibilityMode => (visibilities as readonly string[]).includes(text)
const oneOf = <T extends string>(values: readonly T[], options: object = {}) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  )
const flag = (value: boolean, description: string) => Type.Boolean({ default: value, description })

/** Keys of app.ini that this room reads. */
export const identityConfig = {
  service: Type.Object({
    ENABLE_BASIC_AUTHENTICATION: flag(true, 'Accepts names with passwords in Basic; tokens in Basic always work.'),
    REQUIRE_SIGNIN_VIEW: flag(false, 'Answers nothing to anonymous callers.'),
    REGISTER_EMAIL_CONFIRM: flag(false, 'Addresses that users add are unverified until they are confirmed.'),
    EMAIL_DOMAIN_ALLOWLIST: Type.Array(Type.String(), {
      default: [],
      description: 'Domains (globs) that e-mail addresses must have; empty for all.',
    }),
    EMAIL_DOMAIN_BLOCKLIST: Type.Array(Type.String(), {
      default: [],
      description: 'Domains (globs) that e-mail addresses may not have.',
    }),
    NO_REPLY_ADDRESS: Type.String({
      default: '',
      description: 'Domain of the addresses shown for users who hide theirs; noreply.{DOMAIN} unless given.',
    }),
    DEFAULT_KEEP_EMAIL_PRIVATE: flag(false, 'New users hide their e-mail address.'),
    DEFAULT_USER_IS_RESTRICTED: flag(false, 'New users are restricted.'),
    DEFAULT_ALLOW_CREATE_ORGANIZATION: flag(true, 'New users may create organisations.'),
    DEFAULT_USER_VISIBILITY: oneOf(visibilities, { default: 'public', description: 'Visibility of new users.' }),
    ALLOWED_USER_VISIBILITY_MODES: Type.Array(oneOf(visibilities), {
      default: [...visibilities],
      description: 'Visibilities that users may have.',
    }),
  }),
  ui: Type.Object({
    DEFAULT_THEME: Type.String({ default: 'gitea-auto', description: 'Theme of who has chosen none.' }),
  }),
  security: Type.Object({
    DISABLE_QUERY_AUTH_TOKEN: flag(false, 'Ignores tokens in the query of a request.'),
    MIN_PASSWORD_LENGTH: Type.Integer({ default: 8, minimum: 1, maximum: 255, description: 'In characters.' }),
    PASSWORD_COMPLEXITY: Type.Array(oneOf(['off', 'lower', 'upper', 'digit', 'spec']), {
      default: ['off'],
      description: 'Kinds of characters that a password must contain; off for none.',
    }),
  }),
}

export type IdentityConfig = {
  readonly [S in keyof typeof identityConfig]: Readonly<Static<(typeof identityConfig)[S]>>
}

/** Where this room reads its keys; asked at each use, so that a reload is heard. */
export type IdentitySettings = { get<S extends keyof IdentityConfig>(section: S): IdentityConfig[S] }
