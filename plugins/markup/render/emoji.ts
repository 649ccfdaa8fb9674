import names from 'markdown-it-emoji/lib/data/full.mjs'

const signs = new Map(Object.entries(names))
const namesBySign = new Map<string, string>()
for (const [name, sign] of signs) if (!namesBySign.has(sign)) namesBySign.set(sign, name)

const aloud = (name: string) => name.replaceAll('_', ' ')

/** The sign behind a short name such as `smile`, and how it is read aloud. */
export function emojiByName(name: string): { readonly sign: string; readonly label: string } | undefined {
  const sign = signs.get(name)
  return sign === undefined ? undefined : { sign, label: aloud(name) }
}

/** How a sign is read aloud; undefined when it has no name here. */
export function labelOfEmoji(sign: string): string | undefined {
  const name = namesBySign.get(sign) ?? namesBySign.get(sign.replaceAll('️', ''))
  return name === undefined ? undefined : aloud(name)
}
