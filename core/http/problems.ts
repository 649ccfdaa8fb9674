/**
 * The catalogue of refusals: everything that the host answers with a status of 400 or above.
 * A handler throws one; the room answers it as `{"message", "url"}`.
 */
export class Problem extends Error {
  readonly status: number
  /** Fields beside `message` and `url`, where the contract has some. */
  readonly extra: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  /** True: the body is `{"message"}` alone, as some refusals of the contract are. */
  readonly bare: boolean
  constructor(
    status: number,
    message: string,
    extra: Record<string, unknown> = {},
    headers: Record<string, string> = {},
    bare = false,
  ) {
    super(message)
    this.name = 'Problem'
    this.status = status
    this.extra = extra
    this.headers = headers
    this.bare = bare
  }
}

const refuse =
  (status: number, standard: string) =>
  (message: string = standard, extra?: Record<string, unknown>) =>
    new Problem(status, message, extra)

export const badRequest = refuse(400, 'bad request')
export const unauthorized = refuse(401, 'token is required')
export const forbidden = refuse(403, 'forbidden')
export const notFound = refuse(404, 'not found')
export const methodNotAllowed = refuse(405, 'method not allowed')
export const conflict = refuse(409, 'conflict')
export const tooLarge = refuse(413, 'request body is too large')
export const unprocessable = refuse(422, 'unprocessable')
export const locked = refuse(423, 'repo is archived')
export const unavailable = refuse(503, 'the host cannot answer right now, try again')

/** Credentials were sent and are wrong: one text for every cause, so that nothing can be guessed from it. */
export const badCredentials = () => unauthorized('invalid username, password or token')

/** A field of a body or query breaks a rule. `field` is the contract's CamelCase name, for example `Name`. */
export const invalid = (field: string, rule: string) => unprocessable(`[${field}]: ${rule}`)

/** A refusal whose body is only `{"message"}`. */
export const bare = (status: number, message: string) => new Problem(status, message, {}, {}, true)
