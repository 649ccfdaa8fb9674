import type { GitRepo } from './git.ts'
import { type Client, explain } from './receive-client.ts'
import { errorText } from './receive-report.ts'
import type { PushRequest } from './receive-request.ts'
import type { GitProcess } from './run.ts'

export type Push = Pick<PushRequest, 'commands' | 'options' | 'atomic'>

export type Verdict =
  | {
      readonly accept: true
      /** Git stores it under this ref instead; the client hears of it by `reported`. */
      readonly as?: string | undefined
    }
  | {
      readonly accept: false
      /** Shown to the client as `remote: error: …`. */
      readonly message: string
      /** push (default): nothing of the push happens; ref: only this ref is refused (unless the push is atomic). */
      readonly scope?: 'push' | 'ref' | undefined
      /** Status of the ref; default `pre-receive hook declined`, for scope ref `hook declined`. */
      readonly reason?: string | undefined
    }

/** ref → why it will not move. Empty when everything may go on. */
export async function tellRefusals(
  client: Client,
  push: Push,
  verdicts: readonly Verdict[],
): Promise<Map<string, string>> {
  const refused = new Map<string, string>()
  let whole = false
  for (const [index, { ref }] of push.commands.entries()) {
    // A command without a verdict is refused: forgetting must not open a door.
    const verdict = verdicts[index] ?? { accept: false, message: 'no verdict' }
    if (verdict.accept) continue
    const alone = verdict.scope === 'ref' && !push.atomic
    if (!alone) whole = true
    refused.set(ref, verdict.reason ?? (alone ? 'hook declined' : 'pre-receive hook declined'))
    if (verdict.message) await client.progress(errorText(verdict.message))
  }
  if (whole) for (const { ref } of push.commands) refused.set(ref, refused.get(ref) ?? 'pre-receive hook declined')
  return refused
}

/** Answers our hook, when git comes to ask it. One refusal is enough: git then moves none of the refs. */
export async function judge(
  repo: GitRepo,
  process: GitProcess,
  push: Push,
  verify: (push: Push, repo: GitRepo) => Promise<readonly Verdict[]>,
  client: Client,
): Promise<void> {
  const where = await readHook(process)
  if (!where) return
  const [quarantine, objects, alternates] = where
  const env = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates,
    GIT_QUARANTINE_PATH: quarantine,
  }
  const seen = quarantine ? repo.quarantined(env) : repo
  try {
    const refused = await tellRefusals(client, { ...push, atomic: true }, await verify(push, seen))
    process.toHook?.end(refused.size === 0 ? 'accept\n' : 'refuse\n')
  } catch (error) {
    await client.progress(errorText(explain(error)))
    process.toHook?.end('refuse\n')
  } finally {
    if (quarantine) seen.release()
  }
}

async function readHook(process: GitProcess): Promise<[string, string, string] | undefined> {
  let text = ''
  const lines = process.fromHook
  if (!lines) return undefined
  for await (const chunk of lines.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8')
    if (text.endsWith('\n.\n')) break
  }
  const [quarantine = '', objects = '', alternates = '', end] = text.split('\n')
  return end === '.' ? [quarantine, objects, alternates] : undefined
}
