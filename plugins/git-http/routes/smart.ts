import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type Answer, type Approach, answer, badRequest, type RawCall, type RawRoute, rawRoute } from '#core/http'
import { git } from '#core/repos'
import { type ForGit, type GitAction, gitAccess } from '../access.ts'
import type { GitHttpUse } from '../needs.ts'
import { common, neverCached } from '../protocol.ts'
import { receivePush } from '../push.ts'

type Call = RawCall<ForGit>

const first = (value: string | readonly string[] | undefined) => (typeof value === 'string' ? value : value?.[0])

const actions: Readonly<Record<string, GitAction>> = { 'git-upload-pack': 'fetch', 'git-receive-pack': 'push' }
const serviceAsked = ({ query }: Pick<Approach, 'query'>) => first(query.service)
const actionAsked = (approach: Approach) => actions[serviceAsked(approach) ?? '']

/** The routes that git clients speak to. */
export function smartRoutes(use: GitHttpUse): RawRoute[] {
  return [
    rawRoute({
      ...common,
      method: 'GET',
      path: '/{owner}/{repo}/info/refs',
      access: gitAccess(use, actionAsked),
      handle: (call) => advertise(use, call),
    }),
    serviceRoute(use, 'git-upload-pack', async (repo, body, { protocol, signal }) =>
      git.uploadPack(repo, await heard(body), { protocol, signal }),
    ),
    serviceRoute(use, 'git-upload-archive', async (repo, body, { protocol, signal }) =>
      git.uploadArchive(repo, await heard(body), { protocol, signal }),
    ),
    serviceRoute(use, 'git-receive-pack', (_, body, { protocol, call }) =>
      receivePush(use, body, { actor: call.actor, access: call.repo, protocol }),
    ),
  ]
}

const protocolOf = ({ headers }: Pick<Call, 'headers'>) => first(headers['git-protocol'])

async function advertise(use: GitHttpUse, call: Call): Promise<Answer> {
  const service = serviceAsked(call)
  const repo = use.repos.open(call.repo.repo)
  if (service === undefined) {
    const lines = (await git.listRefs(repo)).map((ref) => `${ref.objectId}\t${ref.name}\n`)
    return answer(200, lines.join(''), { ...neverCached, 'content-type': 'text/plain; charset=utf-8' })
  }
  if (service !== 'git-upload-pack' && service !== 'git-receive-pack') return answer(400)
  const stream = await git.advertise(repo, service, { protocol: protocolOf(call), signal: call.signal })
  return answer(200, stream, { ...neverCached, 'content-type': `application/x-${service}-advertisement` })
}

type Serve = (
  repo: git.GitRepo,
  body: Readable,
  how: { protocol: string | undefined; signal: AbortSignal; call: Call },
) => Promise<Readable> | Readable

function serviceRoute(use: GitHttpUse, service: string, serve: Serve): RawRoute {
  return rawRoute({
    ...common,
    method: 'POST',
    path: `/{owner}/{repo}/${service}`,
    access: gitAccess(use, () => actions[service] ?? 'fetch'),
    async handle(call) {
      const wanted = service === 'git-upload-archive' ? undefined : `application/x-${service}-request`
      if (wanted !== undefined && first(call.headers['content-type']) !== wanted) return answer(400)
      const how = { protocol: protocolOf(call), signal: call.signal, call }
      const stream = await serve(use.repos.open(call.repo.repo), bodyOf(call), how)
      return answer(200, stream, { ...neverCached, 'content-type': `application/x-${service}-result` })
    },
  })
}

/** What a fetch asks for is usually a few kilobytes; up to here it is read before git is started. */
const askedBefore = 1024 * 1024

/** A question, read to its end or its first megabyte: clients that take their time hold none of git's places. */
async function heard(body: Readable): Promise<Readable> {
  const source: AsyncIterator<Buffer> = body.iterator({ destroyOnReturn: false })
  const chunks: Buffer[] = []
  for (let size = 0; size < askedBefore; ) {
    const { done, value } = await source.next().catch(() => {
      throw badRequest('the request body cannot be read')
    })
    if (done) return Readable.from(chunks, { objectMode: false })
    chunks.push(value)
    size += value.length
  }
  async function* all() {
    yield* chunks
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value
  }
  return Readable.from(all(), { objectMode: false })
}

/** The body as git means it: clients compress what is long. */
function bodyOf(call: Call): Readable {
  const body = call.raw as IncomingMessage
  if (!/gzip/i.test(first(call.headers['content-encoding']) ?? '')) return body
  const plain = createGunzip()
  // Whoever reads it is told; until somebody does (git waits for its place), an error would end the process.
  plain.on('error', () => undefined)
  // A broken upload must end the reader as well, or it would wait for ever.
  body.on('error', (error) => plain.destroy(error))
  body.on('aborted', () => plain.destroy(new Error('the client went away')))
  return body.pipe(plain)
}
