import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type Answer, type Approach, answer, type RawCall, type RawRoute, rawRoute } from '#core/http'
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
    serviceRoute(use, 'git-upload-pack', (repo, body, { protocol, signal }) =>
      git.uploadPack(repo, body, { protocol, signal }),
    ),
    serviceRoute(use, 'git-upload-archive', (repo, body, { protocol, signal }) =>
      git.uploadArchive(repo, body, { protocol, signal }),
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
