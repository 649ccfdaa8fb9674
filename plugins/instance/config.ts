import { Type } from '#core/http'

const list = (items: string, description: string) =>
  Type.Array(Type.String(), { default: items.split(' '), description })

/** Keys of app.ini that this plugin reads. */
export const instanceConfig = {
  '': Type.Object({
    APP_NAME: Type.String({ default: 'Switchyard', description: 'What this host is called.' }),
  }),
  ui: Type.Object({
    REACTIONS: list('+1 -1 laugh hooray confused heart rocket eyes', 'Reactions that people may give.'),
    CUSTOM_EMOJIS: list('git gitea codeberg gitlab github gogs', 'Emojis of this host beside those of Unicode.'),
  }),
  attachment: Type.Object({
    ENABLED: Type.Boolean({ default: true, description: 'Files may be attached to issues, comments and releases.' }),
    ALLOWED_TYPES: list(
      '.avif .cpuprofile .csv .dmp .docx .fodg .fodp .fods .fodt .gif .gz .jpeg .jpg .json .jsonc .log .md .mov .mp4 ' +
        '.odf .odg .odp .ods .odt .patch .pdf .png .pptx .svg .tgz .txt .webm .webp .xls .xlsx .zip',
      'Endings or media types of files that may be attached.',
    ),
    MAX_SIZE: Type.Integer({ default: 100, minimum: 0, description: 'Largest attached file in MiB.' }),
    MAX_FILES: Type.Integer({ default: 5, minimum: 0, description: 'Most files attached at once.' }),
  }),
}
