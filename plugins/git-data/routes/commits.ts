import { answer, conflict, list, notFound, type Route, route, Text, Type, unprocessable } from '#core/http'
import { git } from '#core/repos'
import { gitDataConfig } from '../config.ts'
import type { GitDataUse } from '../needs.ts'
import { Commit, Note } from '../schemas.ts'
import { createCommits } from '../service/commits.ts'
import { readNote } from '../service/notes.ts'
import { about, commitParts, InRepo, inRepo, linksOf, reading } from './in-repository.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
const sha = Type.String({ description: 'Commit, branch or tag.' })
const InCommit = Type.Object({ ...inRepo, sha })
const { stat: _, ...noteParts } = commitParts

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

function momentOf(value: string | undefined, name: string): Date | undefined {
  if (!value) return undefined
  const time = new Date(value)
  if (moment.test(value) && !Number.isNaN(time.getTime())) return time
  throw unprocessable(`invalid '${name}' format, expected ISO 8601 (RFC3339)`)
}

/** The commit that a text names; 422 for what cannot be a name, 404 for what names nothing. */
async function commitNamed(repo: git.GitRepo, name: string): Promise<string> {
  if (name.startsWith('-') || git.refNameFault(name) !== undefined) throw unprocessable(`no valid ref or sha: ${name}`)
  const found = await git.resolveRevision(repo, name)
  if (!found) throw notFound(`commit doesn't exist: ${name}`)
  return found.commitId
}

/** Where a page of the history of `total` commits is, for clients that do not read `Link`. */
function pageHeaders(page: number, limit: number, total: number): Record<string, string> {
  const pages = Math.ceil(total / limit)
  return {
    'x-page': String(page),
    'x-perpage': String(limit),
    'x-total': String(total),
    'x-pagecount': String(pages),
    'x-hasmore': String(page < pages),
    'access-control-expose-headers': 'X-Page, X-PerPage, X-Total, X-PageCount, X-HasMore',
  }
}

/** Commits, one or many, and what people noted on them. */
export function commitRoutes(use: GitDataUse): Route[] {
  const commits = createCommits(use)

  const logFor = async (repo: git.GitRepo, from: string, query: LogQuery) => {
    const start = async (name: string) => {
      const found = await git.resolveRevision(repo, name)
      if (!found) throw notFound(`object does not exist [id: ${name}, rel_path: ]`)
      return found.commitId
    }
    return {
      since: momentOf(query.since, 'since'),
      until: momentOf(query.until, 'until'),
      from: [await start(query.sha || from)],
      ...(query.not ? { not: [await start(query.not)] } : {}),
      ...(query.path ? { path: query.path } : {}),
    }
  }

  return [
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/commits',
      operationId: 'repoGetAllCommits',
      summary: 'Lists the commits of a branch, the newest first.',
      access: reading,
      params: InRepo,
      query: Type.Object({
        sha: text('Branch, tag or commit to start from; the default branch unless given.'),
        path: text('Only commits that touched this file or folder.'),
        since: text('Only commits since this moment (RFC 3339).'),
        until: text('Only commits until this moment (RFC 3339).'),
        ...commitParts,
        not: text('Leaves out the history of this branch, tag or commit.'),
      }),
      paging: 'link',
      answers: { 200: Type.Array(Commit) },
      refusals: [404, 409, 422],
      async handle(call) {
        const { repo } = call.repo
        if (repo.is_empty) throw conflict('Git Repository is empty.')
        const { query, page } = call
        const open = use.repos.open(repo)
        const log = await logFor(open, repo.default_branch, query)
        // The history of a path comes in pages of one size; `limit` then only counts them.
        const size = query.path ? use.config.get('git', gitDataConfig.git).COMMITS_RANGE_SIZE : page.limit
        const found = await git.logCommits(open, { ...log, skip: (page.page - 1) * size, limit: size })
        if (found.total === 0 && query.path && !log.since && !log.until) throw notFound()
        const { stat: stats, files, verification } = query
        const changes =
          stats || files
            ? await git.readChanges(
                open,
                found.commits.map(({ id }) => id),
              )
            : undefined
        const shown = await commits.present(linksOf(use, call), found.commits, { changes, stats, files, verification })
        return answer(200, list(shown, found.total), pageHeaders(page.page, page.limit, found.total))
      },
    }),
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/git/commits/{sha}',
      operationId: 'repoGetSingleCommit',
      summary: 'Shows a commit.',
      access: reading,
      params: InCommit,
      query: Type.Object(commitParts),
      answers: { 200: Commit },
      refusals: [404, 422],
      async handle(call) {
        const open = use.repos.open(call.repo.repo)
        const id = await commitNamed(open, call.params.sha)
        const { stat: stats, files, verification } = call.query
        const facts = await git.readCommits(open, [id])
        const changes = stats || files ? await git.readChanges(open, [id]) : undefined
        return (await commits.present(linksOf(use, call), facts, { changes, stats, files, verification }))[0]
      },
    }),
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/git/commits/{sha}.{diffType}',
      mount: '/repos/:owner/:repo/git/commits/:sha(.+).:diffType(diff|patch)',
      operationId: 'repoDownloadCommitDiffOrPatch',
      summary: 'What a commit changed, as plain text.',
      access: reading,
      params: Type.Object({
        ...inRepo,
        sha,
        diffType: Type.Unsafe<'diff' | 'patch'>({
          type: 'string',
          enum: ['diff', 'patch'],
          description: 'A plain difference, or a mail that can be applied.',
        }),
      }),
      answers: { 200: Text },
      refusals: [404, 422],
      async handle({ repo, params }) {
        const open = use.repos.open(repo.repo)
        return git.streamCommitDiff(open, await commitNamed(open, params.sha), params.diffType) as never
      },
    }),
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/git/notes/{sha}',
      operationId: 'repoGetNote',
      summary: 'Shows the note on a commit.',
      access: reading,
      params: InCommit,
      query: Type.Object(noteParts),
      answers: { 200: Note },
      refusals: [404, 422],
      async handle(call) {
        const open = use.repos.open(call.repo.repo)
        const id = await commitNamed(open, call.params.sha)
        const note = await readNote(open, id)
        if (!note) throw notFound(`commit doesn't exist: ${call.params.sha}`)
        const { files, verification } = call.query
        const changes = await git.readChanges(open, [note.commit.id])
        const options = { changes, files, verification }
        const [commit] = await commits.present(linksOf(use, call), [note.commit], options)
        return { message: note.message, commit }
      },
    }),
  ]
}

type LogQuery = { sha?: string; path?: string; since?: string; until?: string; not?: string }
