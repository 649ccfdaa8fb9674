import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export type Server = {
  readonly name: 'ours' | 'reference'
  readonly base: string
  readonly admin: string
  stop(): Promise<void>
}

const root = resolve(import.meta.dirname, '..')

/** A server that somebody else started. */
export function given(name: Server['name'], url: string, admin: string): Server {
  return { name, base: url.replace(/\/$/, ''), admin, stop: async () => {} }
}

/** Starts our host on a folder of its own; DATABASE_URL, if set, is its database. */
export async function startOurs(): Promise<Server> {
  const data = mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
  const command = [join(root, 'bin/switchyard'), '--data', data, '--http', '127.0.0.1:0', 'serve']
  console.log(`$ ${command.join(' ')}`)
  const child = spawn(command[0] as string, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  let said = ''
  const base = await new Promise<string>((found, failed) => {
    child.once('exit', (code) => failed(new Error(`our host ended with ${code}:\n${said}`)))
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const url = /listening on (http:\S+)/.exec(said)?.[1]
      if (url) found(url)
    })
  })
  const [, login, password] = /administrator is (\S+) with the password (\S+)/.exec(said) ?? []
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(data, { recursive: true, force: true })
  }
  if (!login) {
    await stop()
    throw new Error(`our host names no administrator; is the database of DATABASE_URL new?\n${said}`)
  }
  return { name: 'ours', base, admin: `${login}:${password}`, stop }
}
