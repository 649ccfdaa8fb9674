import type { Config, ConfigInput, SectionSchemas, SwitchKey } from '../config/index.ts'
import type { PluginStatus } from '../plugin/index.ts'
import type { Command } from './command.ts'

/** Which half of the host a process runs: requests, background work, or both. */
export type Role = 'all' | 'web' | 'work'

/** What core and plugins declare; known before anything is connected. */
export type Loaded = {
  readonly schemas: readonly SectionSchemas[]
  readonly switches: readonly SwitchKey[]
  /** For names, options and help; they are run through `Connected.commands`. */
  readonly commands: readonly Command[]
}

/** A host that serves. */
export type Running = {
  /** Where it listens, without a trailing slash; undefined for the role `work`. */
  readonly url: string | undefined
  /** The administrator that this start created. */
  readonly firstRun?: { readonly name: string; readonly password: string } | undefined
  plugins(): readonly PluginStatus[]
  /** Applies a changed configuration as far as that is possible without a restart. */
  reload(config: Config): Promise<void>
  /** Ends all work in order, then all processes that were started. */
  stop(): Promise<void>
  /** Last resort when `stop` takes too long: ends child processes at once. Must not wait. */
  kill?(): void
}

/** One switch as it stands. */
export type SwitchState = {
  readonly section: string
  readonly key: string
  readonly aliases: readonly string[]
  readonly plugin: string
  readonly value: boolean
  /** Where the value comes from. */
  readonly source: string
  /** True: declared in the file or the environment, so that nothing else can change it. */
  readonly locked: boolean
}

/** One thing that `switchyard doctor` looks at. Throwing counts as failing. */
export type Check = {
  readonly name: string
  run(): Promise<Finding> | Finding
}
export type Finding = { readonly ok: boolean; readonly detail: string; readonly hint?: string | undefined }

/** A host for the time of one command: database and services, no listening and no background work. */
export type Connected = {
  readonly switches: {
    list(): Promise<readonly SwitchState[]>
    set(key: string, value: boolean): Promise<void>
    clear(key: string): Promise<void>
  }
  /** Which plugins would be on. */
  plugins(): Promise<readonly PluginStatus[]>
  readonly commands: readonly Command[]
  /** Applies what is missing; answers the names of what it applied. */
  migrate(): Promise<readonly string[]>
  readonly checks: readonly Check[]
}

/** All that the commands ask of the rest of the program. */
export type Host = {
  readonly version: string
  /** Reads the list of plugins and what they declare. */
  load(input: ConfigInput): Promise<Loaded>
  /** Starts and listens. `progress` gets a line for each step that takes a while. */
  serve(config: Config, role: Role, progress: (line: string) => void): Promise<Running>
  withHost<T>(config: Config, use: (host: Connected) => Promise<T>): Promise<T>
}
