import { once } from 'node:events'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Refusal } from '../../plugin/index.ts'
import type { GitRepo } from './git.ts'
import { type Signer, signerLine, withLineEnd } from './object.ts'
import type { Content, Step } from './plan.ts'
import { GitFailure, type GitProcess } from './run.ts'

export type Import = {
  readonly base: string | null
  readonly steps: readonly Step[]
  readonly author: Signer
  readonly committer: Signer
  readonly message: string
}

/**
 * Writes blobs, trees and a commit with one `git fast-import`: no work tree, no index, no ref. Cost grows with the
 * change, not with the repository.
 */
export async function importCommit(repo: GitRepo, work: Import): Promise<{ commit: string; tree: string }> {
  const process = await repo.start(['fast-import', '--quiet', '--done', '--date-format=raw-permissive'])
  const [output] = await Promise.all([readAll(process), send(process, work)])
  const end = await process.done
  if (end.code !== 0) {
    // It leaves a report beside the objects when it gives up.
    await unlink(join(repo.path, `fast_import_crash_${process.pid}`)).catch(ignoreMissing)
    throw new GitFailure('fast-import', end.code, end.stderr)
  }
  const match = /^([0-9a-f]{40,64})\n040000 tree ([0-9a-f]{40,64})\t/.exec(output)
  if (!match) throw new GitFailure('fast-import', end.code, `unexpected answer ${output.slice(0, 200)}`)
  return { commit: match[1] as string, tree: match[2] as string }
}

async function readAll(process: GitProcess) {
  let text = ''
  for await (const chunk of process.stdout as AsyncIterable<Buffer>) text += chunk.toString('latin1')
  return text
}

async function send(process: GitProcess, work: Import) {
  try {
    for await (const part of script(work)) {
      if (process.stdin.destroyed) break
      if (!process.stdin.write(part)) await Promise.race([once(process.stdin, 'drain'), process.done])
    }
    process.stdin.end()
  } catch (error) {
    process.stop()
    throw error
  }
}

async function* script({ base, steps, author, committer, message }: Import) {
  const ref = 'refs/switchyard/import'
  const text = Buffer.from(withLineEnd(message))
  yield `commit ${ref}\nmark :1\nauthor ${signerLine(author)}\ncommitter ${signerLine(committer)}\ndata ${text.length}\n`
  yield text
  if (base) yield `\nfrom ${base}\n`
  for (const step of steps) {
    const path = quote(step.path)
    if (step.mode === null) yield `D ${path}\n`
    else if (typeof step.content === 'string') yield `M ${step.mode} ${step.content} ${path}\n`
    else {
      yield `M ${step.mode} inline ${path}\n`
      yield* data(step.content)
      yield '\n'
    }
  }
  // Forgetting the branch before the end means that no ref is written.
  yield `get-mark :1\nls :1 ""\nreset ${ref}\n\ndone\n`
}

async function* data(content: Content) {
  if (content instanceof Uint8Array) {
    yield `data ${content.length}\n`
    yield content
    return
  }
  yield `data ${content.size}\n`
  let sent = 0
  for await (const chunk of content.stream as AsyncIterable<Buffer>) {
    sent += chunk.length
    if (sent > content.size) break
    yield chunk
  }
  if (sent !== content.size)
    throw new Refusal('invalid', `content has another length than announced [given: ${content.size}]`)
}

function quote(path: string) {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}

function ignoreMissing(error: NodeJS.ErrnoException) {
  if (error.code !== 'ENOENT') throw error
}
