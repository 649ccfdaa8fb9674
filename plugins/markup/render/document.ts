import { randomBytes } from 'node:crypto'
import { decorate } from './decorate.ts'
import type { Environment } from './environment.ts'
import { frontMatterHtml, readFrontMatter } from './front-matter.ts'
import { createParser } from './parser.ts'
import { sanitize } from './sanitize.ts'
import { tableHtml } from './table.ts'
import type { Surroundings } from './text.ts'

/** One piece of work for the renderer. Everything in it survives a message to a thread. */
export type Job = {
  readonly text: string
  readonly as: { readonly kind: 'markdown' } | { readonly kind: 'table'; readonly extension: string }
  /** Every line break shows. */
  readonly breaks: boolean
  readonly headingIds: boolean
  /** Ends the ids of footnotes. */
  readonly idSuffix: string
  /** Undefined: plain. */
  readonly surroundings: Surroundings | undefined
}

const parsers = { breaks: createParser(true), flowing: createParser(false) }

/** Turns a text into safe HTML. Knows no files, no network and no database. */
export function renderDocument(job: Job): string {
  if (job.as.kind === 'table') return tableHtml(job.text, job.as.extension)
  if (job.text.trim() === '') return ''
  const secret = randomBytes(12).toString('hex')
  const mark = (names: string) => `${secret} ${names}`
  const front = readFrontMatter(job.text)
  const environment: Environment = {
    rendered: job.surroundings !== undefined,
    idSuffix: job.idSuffix,
    source: job.text,
    mark,
  }
  const parser = job.breaks ? parsers.breaks : parsers.flowing
  const raw =
    (front ? frontMatterHtml(front.fields, mark('frontmatter-content')) : '') +
    parser.render(front?.rest ?? job.text, { ...environment })
  const { headingIds, surroundings } = job
  return decorate(sanitize(raw, secret), { secret, headingIds, surroundings })
}
