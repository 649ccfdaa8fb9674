import type { Database, Tx } from '#core/db'
import { badRequest, forbidden, unprocessable } from '#core/http'
import type { AccountRow } from '#core/identity'
import type { Config } from '#core/plugin'
import { createRecord, git, type Repos, type ReposConfig, type RepositoryRow, reposConfig } from '#core/repos'
import type { Templates } from '#plugins/templates'
import { firstFiles, namesIn } from './first-files.ts'
import { countOwned } from './queries.ts'
import type { CreateRepoOption } from './schemas.ts'

type Deps = {
  readonly db: Database
  readonly repos: Repos
  readonly templates: Templates | undefined
  readonly config: Config
}
type Keys = ReposConfig['repository']

/**
 * Makes a repository: record, folder and, when asked for, its first commit.
 *
 * @param doer who asks; the owner may be somebody else when an administrator does
 * @returns the row as it is after all that
 */
export async function createRepository(
  deps: Deps,
  owner: AccountRow,
  doer: AccountRow,
  wanted: CreateRepoOption,
): Promise<RepositoryRow> {
  const { db, repos } = deps
  const config = deps.config.get('repository', reposConfig.repository)
  checkTemplates(deps.templates, wanted)
  const format = objectFormatOf(wanted.object_format_name)
  const repo = await db.tx(async (tx) => {
    await checkLimit(tx, config, owner, doer)
    const row = await createRecord(tx, owner, doer.id, {
      name: wanted.name,
      description: wanted.description ?? '',
      isPrivate: (wanted.private ?? false) || config.FORCE_PRIVATE,
      isTemplate: wanted.template ?? false,
      defaultBranch: wanted.default_branch || config.DEFAULT_BRANCH,
      objectFormat: format,
      trustModel: trustModelOf(wanted.trust_model),
      units: repos.newUnits(wanted.template ? 'template' : 'normal'),
      licenses: wanted.license ? [wanted.license] : [],
    })
    await initFolder(repos.open(row), { objectFormat: format, defaultBranch: row.default_branch })
    return row
  })
  if (wanted.auto_init) await commitFirstFiles(deps, repo, owner, doer, wanted)
  return repo
}

/** Makes the folder, or leaves none behind. */
async function initFolder(repo: git.GitRepo, options: git.InitOptions): Promise<void> {
  try {
    await git.initRepository(repo, options)
  } catch (error) {
    await git.deleteRepository(repo)
    throw error
  }
}

const trustModels = ['default', 'collaborator', 'committer', 'collaboratorcommitter']
const trustModelOf = (text: string | undefined) => (text && trustModels.includes(text) ? text : 'default')

function objectFormatOf(text: string | undefined): 'sha1' | 'sha256' {
  if (!text || text === 'sha1') return 'sha1'
  if (text === 'sha256') return 'sha256'
  throw unprocessable(`unsupported object format: ${text}; use sha1 or sha256`)
}

/** Refuses names of templates that do not exist, before anything is made. */
function checkTemplates(templates: Templates | undefined, wanted: CreateRepoOption): void {
  if (wanted.issue_labels && !templates?.labelSet(wanted.issue_labels)) {
    throw unprocessable(`label template does not exist [name: ${wanted.issue_labels}]`)
  }
  if (!wanted.auto_init) return
  const readmes = templates?.readmes() ?? []
  if (wanted.readme && !readmes.includes(wanted.readme)) {
    throw badRequest(`readme template does not exist, available templates: [${readmes.join(' ')}]`)
  }
  for (const name of namesIn(wanted.gitignores)) {
    if (templates?.gitignore(name) === undefined)
      throw unprocessable(`gitignore template does not exist [name: ${name}]`)
  }
  if (wanted.license && !templates?.license(wanted.license)) {
    throw unprocessable(`license template does not exist [name: ${wanted.license}]`)
  }
}

async function checkLimit(tx: Tx, config: Keys, owner: AccountRow, doer: AccountRow): Promise<void> {
  const limit = owner.max_repo_creation >= 0 ? owner.max_repo_creation : config.MAX_CREATION_LIMIT
  if (limit < 0 || doer.is_admin) return
  if ((await countOwned(tx, owner.id)) >= limit) {
    throw forbidden(`user has reached maximum limit of repositories [limit: ${limit}]`)
  }
}

async function commitFirstFiles(
  deps: Deps,
  repo: RepositoryRow,
  owner: AccountRow,
  doer: AccountRow,
  wanted: CreateRepoOption,
) {
  const files = firstFiles(deps.templates, { repo, owner, wanted })
  const person = { name: doer.full_name || doer.name, email: doer.email }
  await deps.repos.writes.run(repo, doer.id, async () => {
    await git.commitChanges(
      deps.repos.open(repo),
      { branch: repo.default_branch, mode: 'first', author: person, committer: person, message: 'Initial commit' },
      files.map(({ path, text }) => ({ operation: 'create', path, content: Buffer.from(text) })),
    )
    return { names: [`refs/heads/${repo.default_branch}`], result: undefined }
  })
}
