import type { PluginHost } from './host.ts'
import type { Manifest } from './manifest.ts'
import { switchOf } from './switches.ts'
import { service } from './tokens.ts'

/** Which features of the host are off at this moment, asked by their switches and without knowing who owns them. */
export type Switches = {
  /**
   * Whether the feature that a switch governs is off: by the switch, because something that it needs is off, because it
   * could not start, or because no plugin of this host has that switch at all.
   */
  isOff(section: string, key: string): boolean
}
export const Switches = service<Switches>('plugin.switches')

/** Answers from the live state of the plugins. */
export function createSwitches<M extends Manifest>(host: Pick<PluginHost<M>, 'plugins' | 'gate'>): Switches {
  const nameOf = (section: string, key: string) => `${section}.${key}`
  const gates = new Map(
    host.plugins.map((plugin) => {
      const { section, key } = switchOf(plugin)
      return [nameOf(section, key), host.gate(plugin.name)]
    }),
  )
  return {
    isOff(section, key) {
      const gate = gates.get(nameOf(section, key))
      return gate === undefined || gate.face() !== undefined
    },
  }
}
