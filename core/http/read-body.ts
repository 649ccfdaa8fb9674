import type { IncomingMessage } from 'node:http'
import { parse as parseForm } from 'node:querystring'
import type { FastifyRequest } from 'fastify'
import { type Texts, textsReader } from './bind-text.ts'
import { type Bind, bindOf, type Check, checkOf, type Find } from './bind-value.ts'
import { badRequest, tooLarge, unprocessable } from './problems.ts'
import type { Shape } from './shapes.ts'

/** Most fields of one form. */
const maxFields = 1000

/**
 * Refuses a request whose client went away while its credentials were checked: of its body nothing comes any more, not
 * even an end, and whoever waits for it waits for ever.
 */
export function refuseCutOff({ raw }: FastifyRequest): void {
  if (raw.destroyed && !raw.complete) throw badRequest('the request body was cut off')
}

/** Reads a whole body. More than `limit` bytes are refused with 413: by what the client declares, else by count. */
export function readAll(stream: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(stream.headers['content-length']) > limit) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (error?: Error) => {
      stream.off('data', take).off('end', end).off('error', cut).off('close', cut)
      if (error === undefined) return resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size))
      // What still comes is thrown away, so that the client can finish sending and read the refusal.
      stream.resume()
      reject(error)
    }
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) return settle(tooLarge())
      chunks.push(chunk)
    }
    const cut = () => settle(badRequest('the request body was cut off'))
    const end = () => settle()
    stream.on('data', take).once('end', end).once('error', cut).once('close', cut)
  })
}

const utf8 = new TextDecoder('utf-8')

/** Parses the first JSON value of a text; what follows it is ignored. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const rest = /^Unexpected non-whitespace character after JSON at position (\d+)/.exec(message)
    if (rest) return JSON.parse(text.slice(0, Number(rest[1])))
    throw unprocessable(`[]: ${message.replace(/\s+/g, ' ').slice(0, 200)}`)
  }
}

/** The text fields of a multipart body. Files are passed over: a route that wants them reads its body itself. */
async function readMultipart(request: FastifyRequest, limit: number): Promise<Texts> {
  if (Number(request.headers['content-length']) > limit) throw tooLarge()
  const fields: Record<string, string[]> = Object.create(null)
  let size = 0
  const limits = { fields: maxFields, files: 16, fieldSize: limit, fileSize: limit }
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type === 'file') {
        for await (const chunk of part.file) size += (chunk as Buffer).length
      } else {
        const value = String(part.value)
        size += value.length
        fields[part.fieldname] = [...(fields[part.fieldname] ?? []), value]
      }
      if (size > limit) throw tooLarge()
    }
  } catch (error) {
    request.raw.unpipe()
    request.raw.resume()
    throw multipartRefusal(error)
  }
  return fields
}

/** What a broken multipart body is refused with. */
function multipartRefusal(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if ((error as { statusCode?: number }).statusCode === 413) return tooLarge()
  return error.name === 'Problem' ? error : unprocessable(`[]: ${error.message.slice(0, 200)}`)
}

/**
 * Compiles the reader of a body, which takes the content types and the habits of the contract (01, section 2.1).
 * The refusals are 413 and 422.
 */
export function bodyReader(shape: Shape, find: Find, limit: number): (request: FastifyRequest) => Promise<unknown> {
  const bind: Bind = bindOf(shape, find)
  const check: Check = checkOf(shape, find)
  const fromTexts = textsReader(shape.$ref ? find(shape.$ref) : shape, true)
  const from = async (request: FastifyRequest): Promise<unknown> => {
    const type = request.headers['content-type']?.toLowerCase()
    if (type === undefined || type === '') {
      if (request.method === 'POST' || request.method === 'PUT') throw unprocessable('[]: Empty Content-Type')
      return fromTexts(request.query as Texts)
    }
    if (type.includes('json')) {
      const text = utf8.decode(await readAll(request.raw, limit))
      return bind(text.trim() === '' ? {} : (parseJson(text) ?? {}), '')
    }
    if (type.startsWith('application/x-www-form-urlencoded')) {
      const text = (await readAll(request.raw, limit)).toString()
      return fromTexts(parseForm(text, '&', '=', { maxKeys: maxFields }) as Texts)
    }
    if (type.startsWith('multipart/form-data')) return fromTexts(await readMultipart(request, limit))
    throw unprocessable('[]: Unsupported Content-Type')
  }
  return async (request) => {
    const value = await from(request)
    check(value)
    return value
  }
}
