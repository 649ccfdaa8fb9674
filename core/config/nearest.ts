/** How many letters must be added, removed or replaced to turn `a` into `b`. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** The name that was probably meant, or undefined where nothing is close: a third of the letters may differ. */
export function nearest(word: string, names: Iterable<string>): string | undefined {
  // A word longer than any name needs no comparing, and comparing costs its length squared.
  if (word.length > 80) return undefined
  const ranked = [...names]
    .filter((name) => name !== '')
    .map((name) => ({ name, far: distance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, far }) => far <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.far - b.far)
  return ranked[0]?.name
}

/** `; did you mean X?`, or nothing. */
export function suggestion(word: string, names: Iterable<string>): string {
  const name = nearest(word, names)
  return name === undefined ? '' : `; did you mean ${name}?`
}
