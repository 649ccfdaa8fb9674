/** The package ships no types. */
declare module 'markdown-it-emoji/lib/data/full.mjs' {
  /** Signs by short name. */
  const names: Readonly<Record<string, string>>
  export default names
}
