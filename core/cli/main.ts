import { explain } from './errors.ts'
import { run } from './run.ts'

// Whoever read our output may leave first (a pipe into head, a closed terminal): that ends no work.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

const io = {
  out: (line: string) => void process.stdout.write(`${line}\n`),
  err: (line: string) => void process.stderr.write(`${line}\n`),
}

try {
  // Loaded only now, so that a file that cannot be loaded is reported like every other error.
  const { host } = await import('../index.ts')
  process.exitCode = await run(process.argv.slice(2), host, io, process.env)
} catch (error) {
  io.err(`Command error: ${explain(error)}`)
  if (process.argv.includes('--verbose') && error instanceof Error) io.err(error.stack ?? '')
  process.exitCode = 1
}
