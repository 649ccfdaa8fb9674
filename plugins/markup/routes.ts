import { StringDecoder } from 'node:string_decoder'
import {
  type Access,
  answer,
  type ByAccount,
  type Call,
  type Route,
  repository,
  route,
  type Static,
  signedIn,
  Text,
  Type,
  tooLarge,
  unavailable,
  unprocessable,
} from '#core/http'
import type { RepoAccess } from '#core/repos'
import { type Markup, type MarkupMode, type MarkupRequest, markupModes } from './api.ts'
import { MarkdownOption, MarkupOption } from './schemas.ts'

const mebibyte = 1024 * 1024

type Found = ByAccount & { readonly repo?: RepoAccess }
type Caller = Pick<Call<unknown, unknown, unknown, Found>, 'actor' | 'base' | 'repo'>
type Place = { readonly prefix: string; readonly access: Access<Found>; readonly hidden?: true }

/** The three operations by themselves, and the same below a repository, in which links then lead. */
const places: readonly Place[] = [
  { prefix: '', access: signedIn },
  { prefix: '/repos/{owner}/{repo}', access: repository.readSignedIn('code'), hidden: true },
]

/** HTML of people's making: a browser that opens the answer itself must not act on it. */
const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'; sandbox" }

const isMode = (mode: string): mode is MarkupMode => (markupModes as readonly string[]).includes(mode)

/** What every request says of its caller, and of the repository when it is below one. */
function surroundingsOf({ actor, base, repo }: Caller): Pick<MarkupRequest, 'viewer' | 'base' | 'repository'> {
  const names = repo && { owner: repo.owner.name, name: repo.repo.name }
  return { viewer: actor, base, ...(names && { repository: names }) }
}

export function markupRoutes(use: { readonly markup: Markup | undefined }): readonly Route[] {
  const render = async (caller: Caller, body: Static<typeof MarkupOption>) => {
    const { Text: text = '', Mode: mode = '', Context: context = '', FilePath: filePath, Wiki: wiki } = body
    const read = wiki ? 'wiki' : mode
    if (!isMode(read)) throw unprocessable(`unsupported render mode: ${read}`)
    const request = { text, mode: read, context, ...(filePath !== undefined && { filePath }) }
    if (!use.markup) throw unavailable()
    return answer(200, await use.markup.render({ ...surroundingsOf(caller), ...request }), headers)
  }

  return places.flatMap(({ prefix, access, hidden }) => {
    const common = {
      method: 'POST',
      tag: 'miscellaneous',
      access,
      scope: prefix ? (['repository'] as const) : ('none' as const),
      answers: { 200: Text },
      refusals: [413, 422, 503],
      bodyLimit: mebibyte,
      ...(prefix && { params: Type.Object({ owner: Type.String(), repo: Type.String() }) }),
      ...(hidden && { hidden }),
    } as const
    const idOf = (id: string) => (hidden ? `${id}InRepository` : id)
    return [
      route({
        ...common,
        path: `${prefix}/markup`,
        operationId: idOf('renderMarkup'),
        summary: 'Render a text as HTML',
        body: MarkupOption,
        handle: (call) => render(call, call.body),
      }),
      route({
        ...common,
        path: `${prefix}/markdown`,
        operationId: idOf('renderMarkdown'),
        summary: 'Render Markdown as HTML',
        body: MarkdownOption,
        handle: (call) => render(call, call.body),
      }),
      route({
        ...common,
        path: `${prefix}/markdown/raw`,
        operationId: idOf('renderMarkdownRaw'),
        summary: 'Render Markdown, sent as it is, as HTML',
        body: 'raw',
        handle: async (call) => render(call, { Text: await readText(call.raw), Mode: 'markdown' }),
      }),
    ]
  })
}

async function readText(stream: NodeJS.ReadableStream): Promise<string> {
  const decoder = new StringDecoder('utf8')
  let text = ''
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > mebibyte) throw tooLarge()
    text += typeof chunk === 'string' ? chunk : decoder.write(chunk)
  }
  return text + decoder.end()
}
