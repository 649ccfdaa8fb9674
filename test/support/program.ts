/** The program itself, as its operator starts it: a process of its own that tests may kill. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Teardown } from './database.ts'
import { root } from './shipped.ts'

export type Program = {
  readonly child: ChildProcess
  readonly base: string
  /** From the start of the process to its ready line, in ms. */
  readonly took: number
  /** All that it said, on both channels. */
  said(): string
  /** Password of the administrator, when this start made him. */
  readonly password: string | undefined
  /** Sends a signal and answers how the process ended and how long that took. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; ms: number }>
}

export type ProgramOptions = {
  readonly data: string
  readonly port?: number
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Our environment without anything that would configure a host. */
const cleanEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(SWITCHYARD_|DISABLE_|DATABASE_URL$|GIT_)/.test(name)),
  )

/** Runs `bin/switchyard` with arguments until it ends by itself. */
export async function runProgram(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(join(root, 'bin/switchyard'), [...args], {
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += String(chunk)
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, said }
}

/** Starts `bin/switchyard serve` and waits for its ready line. It is killed at the end of the test at the latest. */
export async function startProgram(t: Teardown, options: ProgramOptions): Promise<Program> {
  const port = options.port ?? (await freePort())
  const start = performance.now()
  const args = ['serve', '--data', options.data, '--http', `127.0.0.1:${port}`, ...(options.args ?? [])]
  const child = spawn(join(root, 'bin/switchyard'), args, {
    env: { ...cleanEnvironment(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  const ready = new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += String(chunk)
      const line = /^Switchyard \S+ listening on (http:\/\/\S+)$/m.exec(said)
      if (line) resolve(line[1] as string)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('exit', (code, signal) => reject(new Error(`it ended with ${code ?? signal} and said:\n${said}`)))
  })
  const base = await ready
  return {
    ...{ child, base, took: performance.now() - start, said: () => said },
    password: /with the password (\S+)/.exec(said)?.[1],
    async end(signal) {
      const from = performance.now()
      const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
      child.kill(signal)
      await gone
      return { code: child.exitCode, ms: performance.now() - from }
    },
  }
}
