import {
  argon2 as argon2Callback,
  pbkdf2 as pbkdf2Callback,
  randomBytes,
  randomInt,
  scrypt as scryptCallback,
  timingSafeEqual,
} from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { Refusal } from '../plugin/index.ts'
import type { IdentitySettings } from './config.ts'
import { createTurns } from './turns.ts'

const argon2 = promisify(argon2Callback)
const pbkdf2 = promisify(pbkdf2Callback)
const scrypt = promisify(
  scryptCallback as (
    password: string,
    salt: Buffer,
    length: number,
    options: { N: number; r: number; p: number; maxmem: number },
    done: (error: Error | null, key: Buffer) => void,
  ) => void,
)

/** The hash of a password that passed the rules: what accounts take. */
export type PasswordHash = string & { readonly __password: 'hash' }

/** Cost of new hashes: 19 MiB, two passes, one lane (OWASP's first choice). */
const cost = { memory: 19_456, passes: 2, parallelism: 1, length: 32 }

type Parsed = { readonly expected: Buffer; readonly compute: (password: string) => Promise<Buffer> }

const whole = (text: string | undefined, max: number) => {
  const value = Number(text)
  return Number.isInteger(value) && value > 0 && value <= max ? value : undefined
}

/** Salts of imported hashes: 32 hex digits are 16 bytes, anything else stands for itself. */
const importedSalt = (text: string) => (/^[0-9a-f]{32}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text))

function argon2id(memory: number, passes: number, parallelism: number, salt: Buffer, expected: Buffer): Parsed {
  const rest = { nonce: salt, parallelism, tagLength: expected.length, memory, passes }
  return { expected, compute: (password) => argon2('argon2id', { message: password, ...rest }) }
}

/** `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`, both in base64 without padding. */
function parseOwn(stored: string): Parsed | undefined {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(stored)
  if (!match) return undefined
  const [memory, passes, lanes] = [whole(match[1], 1 << 20), whole(match[2], 16), whole(match[3], 16)]
  if (!memory || !passes || !lanes) return undefined
  return argon2id(memory, passes, lanes, Buffer.from(match[4] ?? '', 'base64'), Buffer.from(match[5] ?? '', 'base64'))
}

/** `pbkdf2$iterations$length`, `scrypt$N$r$p$length` or `argon2$passes$memory$lanes$length`, then `$salt$hex`. */
function parseImported(stored: string): Parsed | undefined {
  const parts = stored.split('$')
  const numbers = parts.slice(1, -2).map((text) => whole(text, 10_000_000))
  const salt = importedSalt(parts.at(-2) ?? '')
  const expected = Buffer.from(parts.at(-1) ?? '', 'hex')
  if (numbers.includes(undefined) || expected.length === 0) return undefined
  const [a = 0, b = 0, c = 0] = numbers
  if (parts[0] === 'pbkdf2' && parts.length === 5) {
    return { expected, compute: (password) => pbkdf2(password, salt, a, expected.length, 'sha256') }
  }
  if (parts[0] === 'scrypt' && parts.length === 7) {
    const options = { N: a, r: b, p: c, maxmem: 256 * a * b }
    return { expected, compute: (password) => scrypt(password, salt, expected.length, options) as Promise<Buffer> }
  }
  if (parts[0] === 'argon2' && parts.length === 7) return argon2id(b, a, c, salt, expected)
  return undefined
}

const kinds: Record<string, RegExp> = {
  lower: /\p{Ll}/u,
  upper: /\p{Lu}/u,
  digit: /\p{Nd}/u,
  spec: /[^\p{L}\p{N}]/u,
}

/** Hashing of passwords, off the event loop, a few at a time. */
export function createPasswords(settings: IdentitySettings) {
  // Leaves threads of libuv's pool (four) to the file system, and memory to everybody else.
  const turns = createTurns({ atOnce: Math.min(2, availableParallelism()), waiting: 200 })

  const hash = async (password: string): Promise<PasswordHash> => {
    const salt = randomBytes(16)
    const { length, ...rest } = cost
    const digest = await turns(() => argon2('argon2id', { message: password, nonce: salt, tagLength: length, ...rest }))
    const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
    return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${text(salt)}$${text(digest)}` as PasswordHash
  }

  /** What is verified for users that do not exist, so that the answer takes as long. */
  let nobody: Promise<PasswordHash> | undefined

  const verify = async (password: string, stored: string): Promise<boolean> => {
    const parsed = stored.startsWith('$') ? parseOwn(stored) : parseImported(stored)
    if (!parsed) return false
    try {
      const digest = await turns(() => parsed.compute(password))
      return timingSafeEqual(digest, parsed.expected)
    } catch (error) {
      if (error instanceof Refusal) throw error
      // An imported hash whose parameters this build of OpenSSL refuses can be right for no password.
      return false
    }
  }

  return {
    /**
     * Judges a password by the operator's rules and hashes it. Call it before the transaction: it takes long.
     *
     * @param of whether the password is that of a new account: the contract words its refusals differently
     * @throws Refusal bad-request: `PasswordIsRequired`, `PasswordComplexity`, `password must be at least N characters`
     */
    async accept(password: string | undefined, of: 'new' | 'change' = 'new'): Promise<PasswordHash> {
      const { MIN_PASSWORD_LENGTH: min, PASSWORD_COMPLEXITY: wanted } = settings.get('security')
      const text = password ?? ''
      if ([...text].length < min) {
        throw new Refusal(
          'bad-request',
          of === 'new' ? 'PasswordIsRequired' : `password must be at least ${min} characters`,
        )
      }
      if (!wanted.includes('off') && !wanted.every((kind) => kinds[kind]?.test(text))) {
        throw new Refusal('bad-request', 'PasswordComplexity')
      }
      return hash(text)
    },
    /** A password of `length` characters without look-alikes, at least one of each kind that a rule may ask for. */
    random(length = 16): string {
      const alphabet = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_'
      const pick = () => Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
      let password = pick()
      while (length >= 8 && !Object.values(kinds).every((kind) => kind.test(password))) password = pick()
      return password
    },
    hash,
    /** Whether a password belongs to a stored hash. Formats that are unknown belong to none. */
    verify,
    /** Takes as long as `verify` and answers false. */
    async verifyNobody(password: string): Promise<false> {
      nobody ??= hash(randomBytes(16).toString('hex'))
      await verify(password, await nobody)
      return false
    },
  }
}
export type Passwords = ReturnType<typeof createPasswords>
