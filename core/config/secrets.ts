import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { coreSections } from './sections.ts'

const version = 1
const ivBytes = 12
const tagBytes = 16

/** Keeps secrets unreadable at rest and signs what leaves the host. */
export type Secrets = {
  /** Encrypts with AES-256-GCM: version, iv, tag, text. The same input seals differently each time. */
  seal(plain: Buffer): Buffer
  /** Throws when the bytes were changed or sealed with another key. */
  open(sealed: Buffer): Buffer
  /** HMAC-SHA-256 of the parts for one purpose; parts are length-prefixed, so that none can flow into the next. */
  hmac(purpose: string, ...parts: readonly (string | Buffer)[]): Buffer
}

/** Derives independent keys for sealing and signing from one key text. */
export function createSecrets(key: string): Secrets {
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', key, '', `switchyard ${use}`, 32))
  const sealing = derive('seal')
  const signing = derive('hmac')
  return {
    seal(plain) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', sealing, iv)
      const text = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([Buffer.of(version), iv, cipher.getAuthTag(), text])
    },
    open(sealed) {
      if (sealed.length < 1 + ivBytes + tagBytes || sealed[0] !== version)
        throw new Error('this is not a sealed secret')
      const iv = sealed.subarray(1, 1 + ivBytes)
      const decipher = createDecipheriv('aes-256-gcm', sealing, iv, { authTagLength: tagBytes })
      decipher.setAuthTag(sealed.subarray(1 + ivBytes, 1 + ivBytes + tagBytes))
      try {
        return Buffer.concat([decipher.update(sealed.subarray(1 + ivBytes + tagBytes)), decipher.final()])
      } catch {
        throw new Error('a stored secret cannot be opened: SECRET_KEY has changed or the secret was damaged')
      }
    },
    hmac(purpose, ...parts) {
      const mac = createHmac('sha256', signing)
      for (const part of [purpose, ...parts]) {
        const bytes = Buffer.from(part as string)
        const length = Buffer.alloc(4)
        length.writeUInt32BE(bytes.length)
        mac.update(length).update(bytes)
      }
      return mac.digest()
    },
  }
}

/** The host's secrets, by `[security] SECRET_KEY` or by the key in the data folder, which is made when missing. */
export function openSecrets(config: Config): Secrets {
  const configured = config.get('security', coreSections.security).SECRET_KEY
  return createSecrets(configured || storedKey(config.paths.data))
}

function storedKey(data: string): string {
  const file = join(data, 'secret')
  mkdirSync(data, { recursive: true })
  if (!existsSync(file)) makeKey(file)
  const key = readFileSync(file, 'utf8').trim()
  if (key.length < 32)
    throw new Error(`${file} is damaged: restore it from a backup, or remove it and lose the stored secrets`)
  return key
}

/** Two processes may start at once: linking a finished file lets one win, and neither sees half a key. */
function makeKey(file: string): void {
  const fresh = `${file}.${randomBytes(6).toString('hex')}`
  writeFileSync(fresh, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  try {
    linkSync(fresh, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(fresh)
  }
}
