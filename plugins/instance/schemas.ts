import { type TSchema, Type } from '#core/http'

const record = <P extends Record<string, TSchema>>($id: string, description: string, properties: P) =>
  Type.Object(properties, { $id, description })

export const ServerVersion = record('ServerVersion', 'Which version of the API the host speaks.', {
  version: Type.String({ description: 'Semantic version.' }),
})

export const GeneralUISettings = record('GeneralUISettings', 'How the pages of the host look.', {
  default_theme: Type.String(),
  allowed_reactions: Type.Array(Type.String()),
  custom_emojis: Type.Array(Type.String()),
})

export const GeneralAPISettings = record('GeneralAPISettings', 'Limits of the API.', {
  max_response_items: Type.Integer({ description: 'Most items on a page.' }),
  default_paging_num: Type.Integer({ description: 'Items on a page.' }),
  default_git_trees_per_page: Type.Integer({ description: 'Entries on a page of a tree.' }),
  default_max_blob_size: Type.Integer({ description: 'In bytes.' }),
  default_max_response_size: Type.Integer({ description: 'In bytes.' }),
})

export const GeneralRepoSettings = record('GeneralRepoSettings', 'What is switched off, or not there at all.', {
  mirrors_disabled: Type.Boolean(),
  http_git_disabled: Type.Boolean(),
  migrations_disabled: Type.Boolean(),
  stars_disabled: Type.Boolean(),
  time_tracking_disabled: Type.Boolean(),
  lfs_disabled: Type.Boolean(),
})

export const GeneralAttachmentSettings = record('GeneralAttachmentSettings', 'What may be attached.', {
  enabled: Type.Boolean(),
  allowed_types: Type.String({ description: 'Separated by commas.' }),
  max_size: Type.Integer({ description: 'In MiB.' }),
  max_files: Type.Integer(),
})
