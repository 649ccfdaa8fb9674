import hljs from 'highlight.js'

/** Longer code stays plain: colours are not worth seconds. */
const longest = 100_000

/** Code with its words in `<span class="hljs-…">`; undefined when the language is not known. */
export function highlight(code: string, language: string): string | undefined {
  const name = language.toLowerCase()
  if (code.length > longest || !hljs.getLanguage(name)) return undefined
  return hljs.highlight(code, { language: name, ignoreIllegals: true }).value
}
