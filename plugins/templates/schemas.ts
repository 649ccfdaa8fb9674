import { record, Type } from '#core/http'

export const GitignoreTemplateInfo = record('GitignoreTemplateInfo', {
  name: Type.String(),
  source: Type.String({ description: 'The text of the file.' }),
})

export const LicensesTemplateListEntry = record('LicensesTemplateListEntry', {
  key: Type.String({ description: 'The SPDX id.' }),
  name: Type.String(),
  url: Type.String(),
})

export const LicenseTemplateInfo = record('LicenseTemplateInfo', {
  key: Type.String({ description: 'The SPDX id.' }),
  name: Type.String(),
  url: Type.String(),
  implementation: Type.String({ description: 'What to do with the text.' }),
  body: Type.String({ description: 'The text.' }),
})

export const LabelTemplate = record('LabelTemplate', {
  name: Type.String(),
  exclusive: Type.Boolean({ description: 'Of the labels with the same words before the slash, an issue has one.' }),
  color: Type.String({ description: 'Six hexadecimal digits.' }),
  description: Type.String(),
})
