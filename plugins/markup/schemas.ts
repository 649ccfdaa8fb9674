import { record, Type } from '#core/http'

const text = (description: string) => Type.Optional(Type.String({ description }))
const mode = text('How the text is read: markdown (plain), gfm, comment, wiki or file.')
const context = text('Where relative links start: /owner/name or /owner/name/src/branch/main/folder.')
const wiki = Type.Optional(Type.Boolean({ description: 'Read the text as a page of a wiki, whatever the mode.' }))

export const MarkdownOption = record('MarkdownOption', {
  Text: text('The Markdown.'),
  Mode: mode,
  Context: context,
  Wiki: wiki,
})

export const MarkupOption = record('MarkupOption', {
  Text: text('The text.'),
  Mode: mode,
  Context: context,
  FilePath: text('Name of the file that the text stands for; its ending chooses the renderer in the mode file.'),
  Wiki: wiki,
})
