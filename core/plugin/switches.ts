import type { Manifest, Switch } from './manifest.ts'

/** Where a switch's value comes from. `locked`: the file or the environment decides, nobody else may. */
export type SwitchValue = { readonly value: boolean; readonly source: string; readonly locked: boolean }

/** Reads the operator's settings: what file and environment declare, and what was stored at run time. */
export type SwitchSettings = {
  /** The declared value and where it stands (`app.ini:12`, `environment DISABLE_STARS`), or undefined. */
  declared(sw: Switch): { value: boolean; where: string } | undefined
  stored(sw: Switch): boolean | undefined
}

/** The switch that governs a plugin: its own, or `[plugins] DISABLE_<NAME>`. */
export function switchOf(plugin: Manifest): Switch {
  if (plugin.switch) return plugin.switch
  return {
    section: 'plugins',
    key: `DISABLE_${plugin.name.replaceAll('-', '_').toUpperCase()}`,
    off: { status: 403, message: `The feature ${plugin.name} is disabled.` },
  }
}

/** What a switch says now: file or environment, then the stored value, then false. */
export function readSwitch(sw: Switch, settings: SwitchSettings): SwitchValue {
  const declared = settings.declared(sw)
  if (declared) return { value: declared.value, source: declared.where, locked: true }
  const stored = settings.stored(sw)
  if (stored !== undefined) return { value: stored, source: 'set at run time', locked: false }
  return { value: false, source: 'default', locked: false }
}
