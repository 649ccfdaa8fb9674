/** Why something was refused, in the words of the domain; core/http turns the kind into a status. */
export type RefusalKind =
  | 'bad-request'
  | 'invalid'
  | 'unauthenticated'
  | 'not-found'
  | 'forbidden'
  | 'conflict'
  | 'too-large'
  | 'locked'
  | 'unavailable'

/** Thrown by rooms that know no HTTP. The message is written for the caller to read. */
export class Refusal extends Error {
  readonly kind: RefusalKind
  constructor(kind: RefusalKind, message: string) {
    super(message)
    this.name = 'Refusal'
    this.kind = kind
  }
}
