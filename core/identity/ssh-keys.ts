import { createHash, createPublicKey } from 'node:crypto'
import { Refusal } from '../plugin/index.ts'

/** A public key as SSH knows it. */
export type PublicKey = {
  readonly type: string
  /** As written in authorized_keys, without options and comment. */
  readonly content: string
  readonly comment: string
  /** `SHA256:` and base64 without padding, as ssh-keygen prints it. */
  readonly fingerprint: string
}

const shortestRsa = 3071
const refuse = (what: string): never => {
  throw new Refusal('invalid', `Invalid key content: ${what}`)
}

/** Reads the length-prefixed fields of a key blob. */
function fieldsOf(blob: Buffer): Buffer[] {
  const fields: Buffer[] = []
  let at = 0
  while (at < blob.length) {
    if (at + 4 > blob.length) refuse('the key is cut off')
    const end = at + 4 + blob.readUInt32BE(at)
    if (end > blob.length) refuse('the key is cut off')
    fields.push(blob.subarray(at + 4, end))
    at = end
  }
  return fields
}

const url = (bytes: Buffer) => bytes.toString('base64url')

function checkPoint(curve: 'P-256' | 'P-384' | 'P-521', size: number, point: Buffer | undefined) {
  if (point?.length !== 1 + 2 * size || point[0] !== 4) return refuse('the point is malformed')
  try {
    createPublicKey({
      format: 'jwk',
      key: { kty: 'EC', crv: curve, x: url(point.subarray(1, 1 + size)), y: url(point.subarray(1 + size)) },
    })
  } catch {
    refuse('the point is not on its curve')
  }
}

function checkRsa([, exponent, modulus]: Buffer[]) {
  if (!exponent?.length || !modulus?.length) return refuse('the numbers are missing')
  const lead = modulus[0] === 0 ? modulus.subarray(1) : modulus
  const bits = lead.length === 0 ? 0 : lead.length * 8 - (Math.clz32(lead[0] as number) - 24)
  if (bits < shortestRsa) refuse(`key length is not enough: got ${bits}, needs ${shortestRsa}`)
  if (bits > 16_384) refuse(`key length is too much: got ${bits}, at most 16384`)
}

const ed25519 = (fields: Buffer[]) => fields[1]?.length !== 32 && refuse('the point is malformed')
const ecdsa = (name: string, curve: 'P-256' | 'P-384' | 'P-521', size: number) => (fields: Buffer[]) => {
  if (fields[1]?.toString() !== name) refuse('the curve is not that of the type')
  checkPoint(curve, size, fields[2])
}

/** Kinds of keys, how many fields their blobs have, and what must hold for them. */
const kinds: Record<string, { readonly fields: number; readonly check: (fields: Buffer[]) => unknown }> = {
  'ssh-ed25519': { fields: 2, check: ed25519 },
  'sk-ssh-ed25519@openssh.com': { fields: 3, check: ed25519 },
  'ecdsa-sha2-nistp256': { fields: 3, check: ecdsa('nistp256', 'P-256', 32) },
  'ecdsa-sha2-nistp384': { fields: 3, check: ecdsa('nistp384', 'P-384', 48) },
  'ecdsa-sha2-nistp521': { fields: 3, check: ecdsa('nistp521', 'P-521', 66) },
  'sk-ecdsa-sha2-nistp256@openssh.com': { fields: 4, check: ecdsa('nistp256', 'P-256', 32) },
  'ssh-rsa': { fields: 3, check: checkRsa },
}

/**
 * Reads one line of an OpenSSH public key.
 *
 * @throws Refusal invalid, `Invalid key content: …`
 */
export function parsePublicKey(text: string): PublicKey {
  const line = text.trim()
  if (line.length > 16_384) return refuse('the key is too long')
  if (/[\r\n\0]/.test(line)) return refuse('expected one line')
  const [type = '', encoded = '', ...comment] = line.split(/[ \t]+/)
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined
  if (!kind) return refuse('the type is not supported; use ssh-ed25519, ecdsa-sha2-*, sk-* or ssh-rsa')
  const blob = Buffer.from(encoded, 'base64')
  if (encoded === '' || blob.toString('base64') !== encoded) return refuse('the base64 is malformed')
  const fields = fieldsOf(blob)
  if (fields[0]?.toString() !== type) return refuse('the content is not of the named type')
  if (fields.length !== kind.fields) return refuse('the key has a wrong number of fields')
  kind.check(fields)
  const digest = createHash('sha256').update(blob).digest('base64').replaceAll('=', '')
  return { type, content: `${type} ${encoded}`, comment: comment.join(' '), fingerprint: `SHA256:${digest}` }
}
