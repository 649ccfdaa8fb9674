import { Refusal } from '../../plugin/index.ts'

const longest = 255

/**
 * Git's rules for a full ref name (git check-ref-format) without starting git.
 * Returns what is wrong with it, or undefined.
 */
export function refNameFault(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (Buffer.byteLength(name) > 1000) return 'is too long'
  if (name.startsWith('/') || name.endsWith('/') || name.includes('//')) return 'has an empty component'
  if (hasControl(name)) return 'has a control character'
  if (/[ ~^:?*[\\]/.test(name)) return 'has a forbidden character'
  if (name.includes('..')) return 'has two dots in a row'
  if (name.includes('@{') || name === '@') return 'has a forbidden sequence'
  if (name.endsWith('.')) return 'ends with a dot'
  if (!name.isWellFormed()) return 'is not valid text'
  for (const component of name.split('/')) {
    if (component.startsWith('.')) return 'has a component that begins with a dot'
    if (component.endsWith('.lock')) return 'has a component that ends with .lock'
    if (Buffer.byteLength(component) > longest - 5) return 'has a component that is too long'
  }
  return undefined
}

/** A full ref name below refs/, e.g. `refs/heads/main`. */
export function isRefName(name: string): boolean {
  return /^refs\/[^/]/.test(name) && refNameFault(name) === undefined
}

/** The short name of a branch. Git refuses a leading `-` and `HEAD` beyond its rules for refs. */
export function isBranchName(name: string): boolean {
  return !name.startsWith('-') && name !== 'HEAD' && isRefName(`refs/heads/${name}`)
}

/** The short name of a tag. */
export function isTagName(name: string): boolean {
  return !name.startsWith('-') && name !== 'HEAD' && isRefName(`refs/tags/${name}`)
}

/** `refs/heads/a/b` → `{ kind: 'branch', short: 'a/b' }`. */
export function describeRef(name: string): { kind: 'branch' | 'tag' | 'other'; short: string } {
  if (name.startsWith('refs/heads/')) return { kind: 'branch', short: name.slice(11) }
  if (name.startsWith('refs/tags/')) return { kind: 'tag', short: name.slice(10) }
  return { kind: 'other', short: name.startsWith('refs/') ? name.slice(5) : name }
}

/** Code points that HFS+ ignores when it compares names, so that `.g\u200cit` would be `.git`. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/**
 * Why a component may not be written, undefined when it may. Beyond git's own rules nothing may look like `.git`
 * to any file system: other case, composed differently, ignored characters, 8.3 names, trailing dots, spaces, streams.
 */
export function pathComponentFault(component: string): string | undefined {
  if (component === '') return 'has an empty component'
  if (component === '.' || component === '..') return 'leaves its folder'
  if (hasControl(component)) return 'has a control character'
  if (!component.isWellFormed() || component.includes('\ufffd')) return 'is not valid text'
  if (component.includes('\\') && component.split('\\').some((part) => part === '..' || looksLikeGit(part))) {
    return 'is reserved'
  }
  if (Buffer.byteLength(component) > longest) return 'has a component that is too long'
  if (looksLikeGit(component)) return 'is reserved'
  return undefined
}

function looksLikeGit(component: string) {
  // Compatibility forms too (NFKC): full-width letters fold to plain ones on some file systems.
  const folded = component.normalize('NFKC').replace(ignoredByHfs, '').toLowerCase()
  // NTFS: what follows a colon names a stream; trailing dots and spaces are dropped.
  const onWindows = (folded.split(':')[0] ?? '').replace(/[. ]+$/, '')
  return [folded.trim(), onWindows.trim()].some((name) => name === '.git' || /^git~[0-9]+$/.test(name))
}

/** `.gitmodules` and its like: git reads them, so they must not be symbolic links. */
export function isGitControlFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  return name === '.gitmodules' || name === '.gitattributes' || name === '.gitignore' || name === '.mailmap'
}

/**
 * The path that a write means: slashes cleaned, `a/../b` → `b`. Throws Refusal('invalid') for whatever could reach
 * outside the tree or into a git folder, and for the empty path.
 */
export function cleanTreePath(path: string): string {
  const refuse = (why: string) => new Refusal('invalid', `path ${why} [path: ${printable(path)}]`)
  if (Buffer.byteLength(path) > 4096) throw refuse('is too long')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      // At the top it would leave the tree; the contract cleans it like an absolute path.
      parts.pop()
      continue
    }
    const fault = pathComponentFault(part)
    if (fault) throw new Refusal('invalid', `path contains a malformed path component [path: ${printable(path)}]`)
    parts.push(part)
  }
  if (parts.length === 0) throw refuse('is empty')
  return parts.join('/')
}

/** The path that a read means: like cleanTreePath, with '' for the top. Never throws; undefined = nothing there. */
export function readTreePath(path: string): string | undefined {
  if (Buffer.byteLength(path) > 4096 || path.includes('\0')) return undefined
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') return undefined
    parts.push(part)
  }
  return parts.join('/')
}

function hasControl(text: string) {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

function printable(path: string) {
  return JSON.stringify(path.slice(0, 200)).slice(1, -1)
}
