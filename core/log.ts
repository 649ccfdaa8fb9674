import type { Config } from './config/index.ts'
import { httpConfig } from './http/index.ts'

/** What the rooms say about themselves. */
export type Log = {
  info(message: string): void
  error(message: string, error?: unknown): void
}

const ranks = ['debug', 'info', 'warn', 'error', 'silent']

/** Writes to standard error what `[log] LEVEL` lets through, one line a message. */
export function createLog(config: Config): Log {
  const level = ranks.indexOf(config.get('log', httpConfig.log).LEVEL)
  const write = (rank: string, message: string) => {
    if (ranks.indexOf(rank) >= level) process.stderr.write(`${new Date().toISOString()} ${rank} ${message}\n`)
  }
  return {
    info: (message) => write('info', message),
    error: (message, error) => write('error', error === undefined ? message : `${message}: ${detailOf(error)}`),
  }
}

const detailOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))
