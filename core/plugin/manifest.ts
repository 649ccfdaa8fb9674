import type { Static, TObject } from '@sinclair/typebox'
import type { Needs, Point, Service, Use } from './tokens.ts'

/** The answer of a plugin's routes while it is off. */
export type Face = { readonly status: number; readonly message: string }

/** Which setting turns a plugin off, and what its routes answer then. */
export type Switch = {
  readonly section: string
  /** A boolean key; true turns the plugin off. Its bare name is also read from the environment. */
  readonly key: string
  /** Other spellings that operators may use for `key`. */
  readonly aliases?: readonly string[]
  readonly off: Face
}

/** What the live half of a plugin may do. Every effect is undone, last first, when the plugin is turned off. */
export type Scope<N extends Needs = Needs, C extends ConfigSections = ConfigSections> = {
  readonly name: string
  readonly use: Use<N>
  readonly config: ConfigOf<C>
  /** Offers a service while the plugin is on. */
  provide<T>(token: Service<T>, value: T): void
  /** Adds one entry to a point while the plugin is on. */
  contribute<T>(token: Point<T>, value: T): void
  /** Any other effect: `undo` is called once at turn-off. The label shows in `switchyard plugins`. */
  effect(label: string, undo: () => void | Promise<void>): void
}

/** Sections of app.ini that a plugin owns, each a TypeBox object of keys with defaults. */
export type ConfigSections = Readonly<Record<string, TObject>>
export type ConfigOf<C extends ConfigSections> = { readonly [S in keyof C]: Readonly<Static<C[S]>> }

/** The part of a plugin that this room reads. The whole contract is in core/contract. */
export type Manifest<N extends Needs = Needs, C extends ConfigSections = ConfigSections> = {
  /** The folder's name, in kebab-case. */
  readonly name: string
  /** Range of the host contract that the plugin was written for, for example `^1`. */
  readonly compat: string
  /** One line, shown by `switchyard plugins`. */
  readonly summary: string
  /** Without one, the plugin is governed by `[plugins] DISABLE_<NAME>`. */
  readonly switch?: Switch
  readonly config?: C
  readonly needs?: N
  /** Services that `start` provides, so that the order is known before anything runs. */
  readonly provides?: readonly Service<unknown>[]
  /** The live half, run at each turn-on. */
  start?(scope: Scope<N, C>): void | Promise<void>
}
