import { Type } from '#core/http'

/** Keys of app.ini that this plugin reads. */
export const accountsConfig = {
  'service.explore': Type.Object({
    DISABLE_USERS_PAGE: Type.Boolean({ default: false, description: 'Nobody may search for users.' }),
    REQUIRE_SIGNIN_VIEW: Type.Boolean({ default: false, description: 'Only who is signed in may search for users.' }),
  }),
  admin: Type.Object({
    USER_DISABLED_FEATURES: Type.Array(Type.Union([Type.Literal('manage_ssh_keys')]), {
      default: [],
      description: 'What users may not do by themselves. manage_ssh_keys: add and delete SSH keys.',
    }),
  }),
}
