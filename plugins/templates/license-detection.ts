import { readdir } from 'node:fs/promises'
import { licenseFolder, licenseIds, licenseText } from './licenses.ts'

type Known = { readonly id: string; readonly shingles: Uint32Array }

/** Of a longer text only so much is read, in characters. */
const longestText = 128 * 1024
/** So much of a licence has to be found. */
const enough = 0.85
/** Shorter licences say too little to be told from chance, in shingles. */
const shortest = 25
/** How long one stretch of work may take, in ms. */
const stretch = 3

type Breathe = () => Promise<void>

/** Lets others work whenever a stretch has been used up. */
function createBreather(): Breathe {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < stretch) return
    await new Promise((resolve) => setImmediate(resolve))
    since = performance.now()
  }
}

/**
 * The runs of three words of a text, as numbers, each once. Case, punctuation and the lines that name who holds the
 * copyright do not count.
 */
async function shinglesOf(text: string, breathe: Breathe): Promise<Uint32Array> {
  const plain = text.slice(0, longestText).replaceAll(/^[ \t#*/;-]*(?:copyright\b|\(c\)|©).*$/gim, '')
  const shingles = new Set<number>()
  let before = 0
  let last = 0
  let words = 0
  for (const [word] of plain.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    let hash = 0x811c9dc5
    for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
    shingles.add((Math.imul(Math.imul(before, 31) + last, 0x9e3779b1) + hash) >>> 0)
    before = last
    last = hash
    if (++words % 500 === 0) await breathe()
  }
  return Uint32Array.from(shingles)
}

/** Of ids for one text, those that are offered come first, then the shortest. */
const rank = (id: string) => ((licenseIds as readonly string[]).includes(id) ? 0 : 1000) + id.length

/** All ids but those that only say how far a text may be exchanged for another version of it. */
function distinctIds(files: readonly string[]): string[] {
  const ids = new Set(files.map((file) => file.replace(/\.json$/, '')))
  const plain = (id: string) => id.replace(/(?:\+|-only|-or-later)$/, '')
  return [...ids].filter((id) => plain(id) === id || !ids.has(plain(id))).sort((a, b) => rank(a) - rank(b))
}

/** What stands behind this line tells how to use the licence; many copies leave it out. */
const termsOf = (text: string) => text.split(/^\s*end of terms and conditions\b/im, 1)[0] ?? text

async function loadKnown(): Promise<readonly Known[]> {
  const breathe = createBreather()
  const known = new Map<string, Known>()
  for (const id of distinctIds(await readdir(licenseFolder))) {
    const shingles = await shinglesOf(termsOf(await licenseText(id)), breathe)
    const key = Buffer.from(shingles.buffer).toString('latin1')
    if (shingles.length >= shortest && !known.has(key)) known.set(key, { id, shingles })
    await breathe()
  }
  return [...known.values()]
}

type Match = { readonly known: Known; readonly found: number }

/**
 * Of licences that share sentences, those that say more than the ones before them. Best first: what is found most of,
 * and most completely.
 */
async function independent(matches: readonly Match[], text: ReadonlySet<number>, breathe: Breathe): Promise<string[]> {
  const worth = ({ known, found }: Match) => (found * found) / known.shingles.length
  const explained = new Set<number>()
  const ids: string[] = []
  for (const { known, found } of [...matches].sort((a, b) => worth(b) - worth(a))) {
    const shared = known.shingles.filter((shingle) => text.has(shingle))
    const fresh = shared.filter((shingle) => !explained.has(shingle)).length
    await breathe()
    if (fresh < found / 2) continue
    ids.push(known.id)
    for (const shingle of shared) explained.add(shingle)
    await breathe()
  }
  return ids.sort()
}

/** Finds licences by their texts. The first call reads all of SPDX; no call holds up others for long. */
export function createLicenseDetector() {
  let loading: Promise<readonly Known[]> | undefined
  return async (text: string): Promise<string[]> => {
    loading ??= loadKnown().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    const all = await loading
    const breathe = createBreather()
    const given = new Set(await shinglesOf(text, breathe))
    if (given.size < shortest) return []
    const matches: Match[] = []
    for (const known of all) {
      if (known.shingles.length * enough > given.size) continue
      let found = 0
      for (const shingle of known.shingles) if (given.has(shingle)) found++
      if (found / known.shingles.length >= enough) matches.push({ known, found })
      await breathe()
    }
    return independent(matches, given, breathe)
  }
}
