/**
 * Signatures made with SSH keys (PROTOCOL.sshsig of OpenSSH), as git stores them.
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'

export type SshSignature = {
  /** The key that made it, as a line of authorized_keys has it: `ssh-ed25519 AAAA…`. */
  readonly key: string
  /** `SHA256:` and base64 without padding. */
  readonly fingerprint: string
  /** Whether the key signed exactly this text, for git. */
  signs(payload: string): boolean
}

const magic = Buffer.from('SSHSIG')
/** No key of a sensible size has a longer signature. */
const longest = 32_768

const string = (bytes: Uint8Array) => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Reads length-prefixed fields one after the other; throws where one is cut off. */
function reader(bytes: Buffer) {
  let at = 0
  const take = (length: number) => {
    if (at + length > bytes.length) throw new RangeError('cut off')
    at += length
    return bytes.subarray(at - length, at)
  }
  return {
    take,
    field: () => take(take(4).readUInt32BE()),
    number: () => take(4).readUInt32BE(),
    rest: () => bytes.subarray(at),
  }
}

/** Reads an armoured signature; undefined when it is none, or of a kind that is not known here. */
export function readSshSignature(armoured: string): SshSignature | undefined {
  const body = /^-----BEGIN SSH SIGNATURE-----\s+([A-Za-z0-9+/=\s]+)-----END SSH SIGNATURE-----\s*$/.exec(armoured)?.[1]
  if (body === undefined || body.length > longest) return undefined
  try {
    return parse(Buffer.from(body, 'base64'))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function parse(blob: Buffer): SshSignature | undefined {
  const fields = reader(blob)
  if (!fields.take(magic.length).equals(magic) || fields.number() !== 1) return undefined
  const publicKey = fields.field()
  const namespace = fields.field()
  const reserved = fields.field()
  const hash = fields.field().toString()
  const signature = fields.field()
  if (namespace.toString() !== 'git' || (hash !== 'sha256' && hash !== 'sha512')) return undefined
  const type = reader(publicKey).field().toString()
  return {
    key: `${type} ${publicKey.toString('base64')}`,
    fingerprint: `SHA256:${createHash('sha256').update(publicKey).digest('base64').replaceAll('=', '')}`,
    signs(payload) {
      const digest = createHash(hash).update(payload).digest()
      const signed = Buffer.concat([magic, ...[namespace, reserved, Buffer.from(hash), digest].map(string)])
      try {
        return holds(publicKey, signature, signed)
      } catch {
        // Keys and signatures come from strangers: what cannot be read was not signed.
        return false
      }
    },
  }
}

const url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
const okp = (x: Buffer) => createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: url(x) } })
const curves: Readonly<Record<string, { readonly crv: string; readonly size: number; readonly hash: string }>> = {
  nistp256: { crv: 'P-256', size: 32, hash: 'sha256' },
  nistp384: { crv: 'P-384', size: 48, hash: 'sha384' },
  nistp521: { crv: 'P-521', size: 66, hash: 'sha512' },
}
const rsaHashes: Readonly<Record<string, string>> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' }

function holds(publicKey: Buffer, signature: Buffer, signed: Buffer): boolean {
  const key = reader(publicKey)
  const type = key.field().toString()
  const fields = reader(signature)
  const algorithm = fields.field().toString()
  const value = fields.field()
  if (type === 'ssh-rsa') {
    const hash = rsaHashes[algorithm]
    const [e, n] = [key.field(), key.field()]
    return hash !== undefined && verify(hash, signed, rsa(n, e), value)
  }
  if (algorithm !== type) return false
  if (type === 'ssh-ed25519') return verify(null, signed, okp(key.field()), value)
  if (type === 'sk-ssh-ed25519@openssh.com') {
    const point = key.field()
    return verify(null, byDevice(key.field(), fields.rest(), signed), okp(point), value)
  }
  const curve = curves[key.field().toString()]
  if (!curve || !/^(?:ecdsa-sha2-|sk-ecdsa-sha2-)/.test(type)) return false
  const point = key.field()
  const text = type.startsWith('sk-') ? byDevice(key.field(), fields.rest(), signed) : signed
  return verify(curve.hash, text, { key: ec(curve, point), dsaEncoding: 'ieee-p1363' }, plain(value, curve.size))
}

/** Security keys sign the application, flags, a counter and the digest. */
function byDevice(application: Buffer, flagsAndCounter: Buffer, signed: Buffer): Buffer {
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest()
  return Buffer.concat([digest(application), flagsAndCounter.subarray(0, 5), digest(signed)])
}

const rsa = (n: Buffer, e: Buffer): KeyObject =>
  createPublicKey({ format: 'jwk', key: { kty: 'RSA', n: url(unpadded(n)), e: url(unpadded(e)) } })

function ec({ crv, size }: { crv: string; size: number }, point: Buffer): KeyObject {
  if (point.length !== 1 + 2 * size || point[0] !== 4) throw new RangeError('the point is malformed')
  const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)]
  return createPublicKey({ format: 'jwk', key: { kty: 'EC', crv, x: url(x), y: url(y) } })
}

/** Two numbers of SSH as the fixed halves that the library reads. */
function plain(value: Buffer, size: number): Buffer {
  const numbers = reader(value)
  return Buffer.concat([numbers.field(), numbers.field()].map((number) => padded(unpadded(number), size)))
}

const unpadded = (number: Buffer) => number.subarray(number.findIndex((byte) => byte !== 0))
function padded(number: Buffer, size: number): Buffer {
  if (number.length > size) throw new RangeError('the number is too large')
  return Buffer.concat([Buffer.alloc(size - number.length), number])
}
