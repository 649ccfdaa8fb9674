import { extname } from 'node:path/posix'
import type { Actor } from '#core/identity'
import { Refusal } from '#core/plugin'
import type { Markup, MarkupRequest } from './api.ts'
import type { Job } from './render/document.ts'
import { type Context, placesOf, readContext } from './render/links.ts'
import { createThreads, type ThreadOptions, type Threads } from './threads.ts'

const markdownFiles = new Set(['.md', '.markdown', '.mdown', '.mkd', '.livemd'])
const tableFiles = new Set(['.csv', '.tsv'])

/** Larger tables are for reading as files. */
const largestTable = 512 * 1024
/** Names beyond this many in one text stay plain. */
const mostMentions = 500

export type MarkupDeps = {
  /** Which of these names, given in lower case, belong to people whom the viewer can see. One lookup for all. */
  knownPeople(viewer: Actor, names: readonly string[]): Promise<ReadonlySet<string>>
  readonly threads?: Partial<ThreadOptions>
}

const renderThreads: ThreadOptions = {
  module: new URL('./render/worker.ts', import.meta.url),
  size: 2,
  queue: 1000,
  deadline: 5000,
  memory: 192,
  report: (failure) => process.emitWarning(failure.slice(0, 500), 'MarkupWarning'),
}

/** The service behind the routes. `close` ends its threads. */
export function createMarkup(deps: MarkupDeps): Markup & { close(): Promise<void> } {
  const threads: Threads<Job> = createThreads({ ...renderThreads, ...deps.threads })

  const jobOf = async (request: MarkupRequest): Promise<Job | undefined> => {
    const { text, mode } = request
    const as = rendererOf(request)
    const plain = mode === '' || mode === 'markdown'
    const job = { text, as, breaks: mode === 'comment', headingIds: !plain && mode !== 'comment' }
    const idSuffix = mode === 'comment' ? '-preview' : ''
    if (as.kind === 'table') {
      if (text.length > largestTable) throw new Refusal('invalid', 'the table is too large to render')
      return { ...job, idSuffix, surroundings: undefined }
    }
    if (text.trim() === '') return undefined
    if (plain) return { ...job, idSuffix, surroundings: undefined }
    const context = contextOf(request)
    const kind = mode === 'comment' || mode === 'wiki' ? mode : 'file'
    const surroundings = {
      base: request.base,
      places: placesOf(kind, request.base, context),
      repository: context.repository,
      shortReferences: kind !== 'file',
      people: await deps.knownPeople(request.viewer, mentionsOf(text)),
    }
    return { ...job, idSuffix, surroundings }
  }

  return {
    render: async (request) => {
      const job = await jobOf(request)
      return job ? threads.run(job) : ''
    },
    canRender: (filePath) => kindOfFile(filePath) !== undefined,
    close: threads.close,
  }
}

const kindOfFile = (filePath: string) => {
  const extension = extname(filePath).toLowerCase()
  if (markdownFiles.has(extension)) return { kind: 'markdown' } as const
  return tableFiles.has(extension) ? ({ kind: 'table', extension } as const) : undefined
}

function rendererOf({ mode, filePath }: MarkupRequest): Job['as'] {
  if (mode !== 'file') return { kind: 'markdown' }
  const found = kindOfFile(filePath ?? '')
  if (!found) throw new Refusal('invalid', 'unable to find a render')
  return found
}

/** The repository of the request counts, whatever the context says; the context adds the place in its files. */
function contextOf({ context = '', repository }: MarkupRequest): Context {
  const said = readContext(context)
  if (!repository) return said
  const { owner, name } = said.repository ?? { owner: '', name: '' }
  const same =
    owner.toLowerCase() === repository.owner.toLowerCase() && name.toLowerCase() === repository.name.toLowerCase()
  return { repository, place: same ? said.place : '' }
}

function mentionsOf(text: string): string[] {
  const names = new Set<string>()
  for (const [, name = ''] of text.matchAll(/@(\w[\w.-]{0,254})/g)) {
    names.add(name.replace(/[^A-Za-z0-9_]+$/, '').toLowerCase())
    if (names.size >= mostMentions) break
  }
  return [...names]
}
