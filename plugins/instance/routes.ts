import { apiVersion } from '#core/contract'
import { anyone, httpConfig, type Route, route } from '#core/http'
import { identityConfig } from '#core/identity'
import { instanceConfig } from './config.ts'
import type { InstanceUse } from './needs.ts'
import {
  GeneralAPISettings,
  GeneralAttachmentSettings,
  GeneralRepoSettings,
  GeneralUISettings,
  ServerVersion,
} from './schemas.ts'
import { features } from './service.ts'

const open = { method: 'GET', access: anyone, scope: 'none' } as const

/** What clients ask of a host before anything else. */
export function instanceRoutes({ config, switches }: InstanceUse): Route[] {
  const isOff = (feature: keyof typeof features) => switches.isOff(features[feature].section, features[feature].key)
  return [
    route({
      ...open,
      path: '/version',
      operationId: 'getVersion',
      tag: 'miscellaneous',
      summary: 'Tells which version of the API the host speaks.',
      answers: { 200: ServerVersion },
      handle: () => ({ version: apiVersion }),
    }),
    route({
      ...open,
      path: '/settings/ui',
      operationId: 'getGeneralUISettings',
      tag: 'settings',
      summary: 'Tells how the pages of the host look.',
      answers: { 200: GeneralUISettings },
      handle: () => {
        const ui = config.get('ui', instanceConfig.ui)
        return {
          default_theme: config.get('ui', identityConfig.ui).DEFAULT_THEME,
          allowed_reactions: ui.REACTIONS,
          custom_emojis: ui.CUSTOM_EMOJIS,
        }
      },
    }),
    route({
      ...open,
      path: '/settings/api',
      operationId: 'getGeneralAPISettings',
      tag: 'settings',
      summary: 'Tells the limits of the API.',
      answers: { 200: GeneralAPISettings },
      handle: () => {
        const api = config.get('api', httpConfig.api)
        return {
          max_response_items: api.MAX_RESPONSE_ITEMS,
          default_paging_num: api.DEFAULT_PAGING_NUM,
          default_git_trees_per_page: api.DEFAULT_GIT_TREES_PER_PAGE,
          default_max_blob_size: api.DEFAULT_MAX_BLOB_SIZE,
          default_max_response_size: api.DEFAULT_MAX_RESPONSE_SIZE,
        }
      },
    }),
    route({
      ...open,
      path: '/settings/repository',
      operationId: 'getGeneralRepositorySettings',
      tag: 'settings',
      summary: 'Tells which features are off at this moment, or not there at all.',
      answers: { 200: GeneralRepoSettings },
      handle: () => ({
        mirrors_disabled: isOff('mirrors'),
        http_git_disabled: isOff('httpGit'),
        migrations_disabled: isOff('migrations'),
        stars_disabled: isOff('stars'),
        time_tracking_disabled: isOff('timeTracking'),
        lfs_disabled: isOff('lfs'),
      }),
    }),
    route({
      ...open,
      path: '/settings/attachment',
      operationId: 'getGeneralAttachmentSettings',
      tag: 'settings',
      summary: 'Tells what may be attached.',
      answers: { 200: GeneralAttachmentSettings },
      handle: () => {
        const attachment = config.get('attachment', instanceConfig.attachment)
        return {
          enabled: attachment.ENABLED && !isOff('attachments'),
          allowed_types: attachment.ALLOWED_TYPES.join(','),
          max_size: attachment.MAX_SIZE,
          max_files: attachment.MAX_FILES,
        }
      },
    }),
  ]
}
