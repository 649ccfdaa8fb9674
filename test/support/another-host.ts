import type { Test } from 'tap'
import { shippedPlugins } from '../../config/plugins.ts'
import { boot } from '../../core/boot.ts'
import { readConfig } from '../../core/config/index.ts'
import type { Plugin } from '../../core/contract/index.ts'
import { serveRooms } from '../../core/host.ts'
import { orderPlugins } from '../../core/plugin/index.ts'
import { schemasOf, switchKeysOf } from '../../core/rooms.ts'
import type { TestHost } from './host.ts'

/** A second process's worth of host over the database and the folder of the first. Ends with the test. */
export async function anotherHost(t: Test, first: TestHost, given: readonly Plugin[] = shippedPlugins) {
  const plugins = orderPlugins(given)
  const config = readConfig({
    data: first.folder,
    http: '127.0.0.1:0',
    env: { DATABASE_URL: first.rooms.opened.url, SWITCHYARD__log__LEVEL: 'error' },
    schemas: schemasOf(plugins),
    switches: switchKeysOf(plugins),
  })
  const rooms = await boot(config, plugins, () => {})
  const undo: (() => unknown)[] = [rooms.close]
  t.teardown(async () => {
    for (let end = undo.pop(); end; end = undo.pop()) await end()
  })
  const { url = '' } = await serveRooms(rooms, 'all', undo)
  return { base: url, rooms }
}
