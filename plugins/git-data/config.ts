import { Type } from '#core/http'

/** Keys of app.ini that this plugin reads. */
export const gitDataConfig = {
  git: Type.Object({
    COMMITS_RANGE_SIZE: Type.Integer({
      default: 50,
      minimum: 1,
      maximum: 1000,
      description: 'Commits on a page of the history of one file or folder.',
    }),
  }),
  repository: Type.Object({
    DISABLE_DOWNLOAD_SOURCE_ARCHIVES: Type.Boolean({
      default: false,
      description: 'Takes the addresses of archives from pages and tags; the API still packs them.',
    }),
    PREFIX_ARCHIVE_FILES: Type.Boolean({
      default: true,
      description: 'Puts all files of an archive into a folder that bears the name of the repository.',
    }),
  }),
}
