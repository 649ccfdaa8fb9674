import { CommanderError } from 'commander'
import { CommandError } from './command.ts'

/** What the operator reads instead of a stack. Errors of the system are said in words. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, address, port, path } = error as NodeJS.ErrnoException & { address?: string; port?: number }
  if (code === 'EADDRINUSE')
    return `${address}:${port} is taken by another program; choose another with --http ADDR:PORT`
  if (code === 'EADDRNOTAVAIL')
    return `${address} is not an address of this machine; choose another with --http ADDR:PORT`
  if (code === 'EACCES' && port !== undefined)
    return `no permission to listen on ${address}:${port}; choose a port of 1024 or more with --http ADDR:PORT`
  if ((code === 'EACCES' || code === 'EROFS') && path !== undefined)
    return `no permission for ${path}; choose another folder with --data DIR`
  if (code === 'ENOSPC') return 'there is no space left on the disk'
  return error.message || error.name
}

/** The exit status for an error. */
export function exitCodeOf(error: unknown): number {
  return error instanceof CommandError || error instanceof CommanderError ? error.exitCode : 1
}
