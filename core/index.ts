/**
 * Switchyard: a small core that loads plugins. Read on in boot.ts (the rooms, bottom up) and host.ts (turning them on,
 * serving, and what commands may do).
 */
import { shippedPlugins } from '../config/plugins.ts'
import { createHost } from './host.ts'

export { createHost } from './host.ts'
export const host = createHost(shippedPlugins)
