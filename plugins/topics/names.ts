import { Problem } from '#core/http'

/** Most topics of one repository, and most characters of one. */
export const mostTopics = 25
const longestTopic = 35

const isTopic = (name: string) => name.length <= longestTopic && /^[a-z0-9][-.a-z0-9]*$/.test(name)

/** As topics are kept: trimmed, in lower case. */
export const cleanTopic = (name: string) => name.trim().toLowerCase()

/** These refusals bear a list of names and, unlike all others, no `url`. */
const refused = (message: string, extra: Record<string, unknown> = {}) => new Problem(422, message, extra, {}, true)

/** The topics of a list, cleaned and without doubles. Throws a Problem that names those that cannot be topics. */
export function checkTopics(names: readonly string[]): string[] {
  const clean = [...new Set(names.map(cleanTopic).filter((name) => name !== ''))]
  if (clean.length > mostTopics) {
    throw refused('Exceeding maximum number of topics per repo', { invalidTopics: null })
  }
  const invalidTopics = clean.filter((name) => !isTopic(name))
  if (invalidTopics.length > 0) throw refused('Topic names are invalid', { invalidTopics })
  return clean
}

/** One topic, cleaned. Throws a Problem when it cannot be one. */
export function checkTopic(name: string): string {
  const clean = cleanTopic(name)
  if (!isTopic(clean)) throw refused('Topic name is invalid', { invalidTopics: clean })
  return clean
}

/** The refusal for one topic more than a repository may have. */
export const tooManyTopics = () => refused('Exceeding maximum allowed topics per repo.')
