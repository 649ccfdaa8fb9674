import { rmSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Git runs this when a push's objects have arrived and no ref has moved. It says on descriptor 3 where they lie and
 * waits on descriptor 4 for our verdict; without an answer the push is refused.
 */
const preReceive = `#!/bin/sh
printf '%s\\n%s\\n%s\\n.\\n' "$GIT_QUARANTINE_PATH" "$GIT_OBJECT_DIRECTORY" "$GIT_ALTERNATE_OBJECT_DIRECTORIES" >&3
read -r verdict <&4
[ "$verdict" = accept ]
`

export type Hooks = {
  /** The folder with our hook; nobody else writes to it. */
  folder(): Promise<string>
  close(): void
}

/** Makes the folder of hooks when the first push needs it. */
export function createHooks(parent = tmpdir()): Hooks {
  let made: Promise<string> | undefined
  let path: string | undefined

  async function make() {
    path = await mkdtemp(join(parent, 'switchyard-hooks-'))
    await writeFile(join(path, 'pre-receive'), preReceive, { mode: 0o755 })
    return path
  }

  return {
    folder() {
      made ??= make().catch((error) => {
        made = undefined
        throw error
      })
      return made
    },
    close() {
      if (path) rmSync(path, { recursive: true, force: true })
    },
  }
}
