import { Refusal } from '../plugin/index.ts'

const reserved = new Set(['.', '..', '-'])
const reservedEndings = ['.wiki', '.git', '.rss', '.atom']

/** Refuses what cannot name a repository, with the contract's texts. Length and characters are the schema's part. */
export function checkRepositoryName(name: string): void {
  const lower = name.toLowerCase()
  if (reserved.has(lower)) throw new Refusal('invalid', `name is reserved [name: ${name}]`)
  const ending = reservedEndings.find((end) => lower.endsWith(end))
  if (ending) throw new Refusal('invalid', `name pattern is not allowed [pattern: *${ending}]`)
  if (!/^[-.\w]{1,100}$/.test(name) || name.includes('..')) {
    throw new Refusal(
      'invalid',
      `name is invalid [${name}]: must be valid alpha or numeric or dash(-_) or dot characters`,
    )
  }
}
