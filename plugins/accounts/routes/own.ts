import { Empty, type Route, route, signedIn } from '#core/http'
import { type AccountRow, identityConfig } from '#core/identity'
import type { AccountsUse } from '../needs.ts'
import { UpdateUserAvatarOption, UserSettings, UserSettingsOptions } from '../schemas.ts'
import { given } from '../service/administration.ts'
import { changePicture } from '../service/pictures.ts'
import { oneUser, UserAnswer } from './users.ts'

const settingsOf = ({ config }: AccountsUse, account: AccountRow) => ({
  full_name: account.full_name,
  website: account.website,
  description: account.description,
  location: account.location,
  language: account.language,
  theme: account.theme || config.get('ui', identityConfig.ui).DEFAULT_THEME,
  diff_view_style: account.diff_view_style,
  hide_email: account.hide_email,
  hide_activity: account.hide_activity,
})

/** The caller's own record, settings and picture. */
export function ownRoutes(use: AccountsUse): Route[] {
  return [
    route({
      method: 'GET',
      path: '/user',
      operationId: 'userGetCurrent',
      tag: 'user',
      summary: 'Shows the caller.',
      access: signedIn,
      scope: ['user'],
      answers: { 200: UserAnswer },
      handle: ({ me, actor, base }) => oneUser(use, me, { actor, base }),
    }),
    route({
      method: 'GET',
      path: '/user/settings',
      operationId: 'getUserSettings',
      tag: 'user',
      summary: "Shows the caller's settings.",
      access: signedIn,
      scope: ['user'],
      publicOnly: 'refuse',
      answers: { 200: UserSettings },
      handle: ({ me }) => settingsOf(use, me),
    }),
    route({
      method: 'PATCH',
      path: '/user/settings',
      operationId: 'updateUserSettings',
      tag: 'user',
      summary: "Changes the caller's settings; what is not given stays.",
      access: signedIn,
      scope: ['user'],
      publicOnly: 'refuse',
      body: UserSettingsOptions,
      answers: { 200: UserSettings },
      handle: async ({ me, body }) =>
        settingsOf(use, await use.db.tx((tx) => use.identity.accounts.edit(tx, me.id, given(body)))),
    }),
    route({
      method: 'POST',
      path: '/user/avatar',
      operationId: 'userUpdateAvatar',
      tag: 'user',
      summary: 'Gives the caller a picture.',
      access: signedIn,
      scope: ['user'],
      publicOnly: 'refuse',
      body: UpdateUserAvatarOption,
      bodyLimit: 12_582_912,
      answers: { 204: Empty },
      refusals: [400, 413],
      handle: ({ me, body }) => changePicture(use, me, body.image),
    }),
    route({
      method: 'DELETE',
      path: '/user/avatar',
      operationId: 'userDeleteAvatar',
      tag: 'user',
      summary: "Removes the caller's picture; a generated one takes its place.",
      access: signedIn,
      scope: ['user'],
      publicOnly: 'refuse',
      answers: { 204: Empty },
      handle: ({ me }) => changePicture(use, me, undefined),
    }),
  ]
}
