const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

/** Content-Disposition of a file that is shown, with a name that survives in every browser. */
export function inline(name: string): string {
  if (token.test(name)) return `inline; filename=${name}`
  const plain = [...name].map((letter) => (letter >= ' ' && letter <= '~' ? letter : '_')).join('')
  const quoted = `inline; filename="${plain.replace(/["\\]/g, '\\$&')}"`
  if (plain === name) return quoted
  return `${quoted}; filename*=utf-8''${encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, hex)}`
}
