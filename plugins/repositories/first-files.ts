import type { AccountRow } from '#core/identity'
import type { RepositoryRow } from '#core/repos'
import type { Templates } from '#plugins/templates'
import type { CreateRepoOption } from './schemas.ts'

/** The names of a comma list. */
export const namesIn = (list: string | undefined) =>
  (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

type About = { readonly repo: RepositoryRow; readonly owner: AccountRow; readonly wanted: CreateRepoOption }

/** The files of a repository's first commit: a README, and .gitignore and LICENSE when they were chosen. */
export function firstFiles(
  templates: Templates | undefined,
  { repo, owner, wanted }: About,
): { path: string; text: string }[] {
  const readme =
    templates?.readme(wanted.readme || 'Default', { name: repo.name, description: repo.description }) ??
    `# ${repo.name}\n`
  const files = [{ path: 'README.md', text: readme }]
  const ignored = namesIn(wanted.gitignores).map((name) => `# ---> ${name}\n${templates?.gitignore(name) ?? ''}`)
  if (ignored.length > 0) files.push({ path: '.gitignore', text: `${ignored.join('\n')}\n` })
  const license = wanted.license ? templates?.license(wanted.license) : undefined
  if (license) files.push({ path: 'LICENSE', text: signed(license.body, owner) })
  return files
}

/** A licence text with the year and the owner in the places that its authors left open. */
function signed(body: string, owner: AccountRow): string {
  const year = String(new Date().getFullYear())
  return body
    .replace(/<year>|\[year\]|\[yyyy\]/g, year)
    .replace(
      /<(?:copyright holders?|name of author|owner)>|\[(?:fullname|name of copyright owner)\]/g,
      owner.full_name || owner.name,
    )
}
