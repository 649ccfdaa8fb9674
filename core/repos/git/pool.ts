import { Refusal } from '../../plugin/index.ts'
import { type CatFile, createCatFile, type ObjectContent, type ObjectInfo, refuseLarge } from './cat-file.ts'
import { GitFailure, type Runner } from './run.ts'

/** Objects of one repository, read through its process in the pool. */
export type Objects = {
  /** What an object is; undefined when there is none. `name`: an object id, or a full ref name, `^{type}` allowed. */
  info(name: string): Promise<ObjectInfo | undefined>
  /** The whole object; undefined when there is none, Refusal('too-large') above `limit` bytes (default 8 MiB). */
  read(name: string, limit?: number): Promise<ObjectContent | undefined>
}

export type PoolOptions = {
  /** Processes that stay. Default 48. */
  readonly processes?: number | undefined
  /** Milliseconds after which an unused process goes. Default 60 000. */
  readonly idle?: number | undefined
}

export type Pool = {
  of(path: string, env?: Readonly<Record<string, string>>): Objects
  /** Ends the processes of a repository, or only the one of a quarantine. */
  drop(path: string, env?: Readonly<Record<string, string>>): void
  close(): void
}

type Slot = { readonly path: string; readonly cat: Promise<CatFile>; alive: CatFile | undefined; used: number }

const maximum = 8 * 2 ** 20

/** Keeps one cat-file process per repository in use, least recently used out first. */
export function createPool(runner: Runner, { processes = 48, idle = 60_000 }: PoolOptions = {}): Pool {
  const slots = new Map<string, Slot>()
  const sweep = setInterval(
    () => {
      for (const [key, slot] of slots) if (Date.now() - slot.used > idle && slot.alive?.busy === 0) end(key)
    },
    Math.max(50, idle / 4),
  )
  sweep.unref()

  function end(key: string) {
    const slot = slots.get(key)
    slots.delete(key)
    slot?.cat.then((cat) => cat.stop(), ignore)
  }

  function makeRoom() {
    if (slots.size < processes) return
    for (const [key, slot] of slots) {
      if (slot.alive?.busy !== 0) continue
      return end(key)
    }
    // All of them work. Some more are bearable, any number is not.
    if (slots.size >= processes * 2) throw new Refusal('unavailable', 'Too many repositories are being read.')
  }

  function open(key: string, path: string, env: Readonly<Record<string, string>> | undefined): Slot {
    makeRoom()
    const slot: Slot = { path, cat: begin(), alive: undefined, used: Date.now() }
    async function begin() {
      const process = await runner.start([`--git-dir=${path}`, 'cat-file', '--batch-command', '--buffer'], {
        lane: 'pool',
        deadline: 0,
        env,
      })
      const cat = createCatFile(process, () => {
        if (slots.get(key) === slot) slots.delete(key)
      })
      slot.alive = cat
      return cat
    }
    slot.cat.catch(() => {
      if (slots.get(key) === slot) slots.delete(key)
    })
    return slot
  }

  async function use<T>(
    key: string,
    path: string,
    env: Readonly<Record<string, string>> | undefined,
    ask: (cat: CatFile) => Promise<T>,
  ) {
    for (let attempt = 1; ; attempt += 1) {
      const slot = slots.get(key) ?? open(key, path, env)
      // Moves it to the young end of the map.
      slots.delete(key)
      slots.set(key, slot)
      slot.used = Date.now()
      try {
        return await ask(await slot.cat)
      } catch (error) {
        // Reading twice does no harm; a process may have been ended between our look and our question.
        if (attempt > 1 || !(error instanceof GitFailure) || error.reason === 'deadline') throw error
        if (slots.get(key) === slot) slots.delete(key)
      }
    }
  }

  return {
    of(path, env) {
      const key = keyOf(path, env)
      return {
        info: (name) => use(key, path, env, (cat) => cat.info(name)),
        async read(name, limit = maximum) {
          const info = await use(key, path, env, (cat) => cat.info(name))
          if (!info) return undefined
          refuseLarge(info, limit)
          return await use(key, path, env, (cat) => cat.content(info.id))
        },
      }
    },
    drop(path, env) {
      if (env) return end(keyOf(path, env))
      for (const [key, slot] of slots) if (slot.path === path) end(key)
    },
    close() {
      clearInterval(sweep)
      for (const key of [...slots.keys()]) end(key)
    },
  }
}

function keyOf(path: string, env: Readonly<Record<string, string>> | undefined) {
  return env ? `${path}\0${JSON.stringify(env)}` : path
}

function ignore() {}
