/** Where relative links and pictures lead. */
export type Places = {
  /** Without slash at the end, for example `https://host/owner/name/src/branch/main/docs`. */
  readonly links: string
  readonly images: string
}

/** A repository by its names. */
export type RepositoryNames = { readonly owner: string; readonly name: string }

/** What a context says: a repository, and the part behind `src/` when it names a place in its files. */
export type Context = { readonly repository: RepositoryNames | undefined; readonly place: string }

const name = /^[\w.-]{1,100}$/

/** Reads `/owner/name` or `/owner/name/src/branch/main/dir`. Anything else names no repository. */
export function readContext(context: string): Context {
  const [owner = '', repo = '', src, ...rest] = context.replace(/^\//, '').replace(/\/+$/, '').split('/')
  const valid = name.test(owner) && name.test(repo) && (src === undefined || src === 'src')
  if (!valid) return { repository: undefined, place: '' }
  return { repository: { owner, name: repo }, place: segmentsOf(rest.join('/')).join('/') }
}

/** Where links start, by mode; `base` is the host's address without slash at the end. */
export function placesOf(kind: 'file' | 'comment' | 'wiki', base: string, { repository, place }: Context): Places {
  const root = repository ? `${base}/${repository.owner}/${repository.name}` : base
  if (kind === 'comment') return { links: root, images: root }
  if (kind === 'wiki') return { links: `${root}/wiki`, images: `${root}/wiki/raw` }
  const below = place ? `/${encodePath(place)}` : ''
  return { links: `${root}/src${below}`, images: `${root}/media${below}` }
}

/** A path as a link has it; what is encoded already stays. */
export const encodePath = (path: string) => encodeURI(path.toWellFormed()).replaceAll('%25', '%')

/** A link as it should lead: relative ones below `start`, where `..` goes no higher; others as they are. */
export function resolveLink(link: string, start: string): string {
  if (/^(?:[a-z][a-z\d+.-]*:|\/\/|\\)/i.test(link)) return link
  const end = link.search(/[?#]/)
  const path = end < 0 ? link : link.slice(0, end)
  return [start, ...segmentsOf(path)].join('/') + (end < 0 ? '' : link.slice(end))
}

function segmentsOf(path: string): string[] {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return segments
}
