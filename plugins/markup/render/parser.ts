import createMarkdownIt, { type MarkdownIt } from 'markdown-it'
import { alerts } from './alerts.ts'
import { blocks } from './blocks.ts'
import { definitions } from './definitions.ts'
import { footnotes } from './footnotes.ts'
import { headings } from './headings.ts'
import { math } from './math.ts'
import { strikethrough } from './strikethrough.ts'
import { tasks } from './tasks.ts'

/**
 * A Markdown parser of our dialect. What it writes is not safe: it keeps raw HTML and any link, for the sanitizer.
 *
 * @param breaks every line break of a paragraph shows, as in comments
 */
export function createParser(breaks: boolean): MarkdownIt {
  const md = createMarkdownIt({ html: true, breaks })
  // Links are judged once, by the sanitizer; here they would turn back into text.
  md.validateLink = () => true
  for (const rules of [strikethrough, math, definitions, footnotes, headings, tasks, alerts, blocks]) md.use(rules)
  return md
}
