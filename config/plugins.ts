/**
 * THE list of what ships. A plugin that is not here is absent: its routes answer 404 and it has no tables.
 * The order does not matter; what a plugin needs is started before it.
 */
import type { Plugin } from '#core/contract'
import accounts from '../plugins/accounts/plugin.ts'
import contents from '../plugins/contents/plugin.ts'
import gitData from '../plugins/git-data/plugin.ts'
import gitHttp from '../plugins/git-http/plugin.ts'
import instance from '../plugins/instance/plugin.ts'
import markup from '../plugins/markup/plugin.ts'
import repositories from '../plugins/repositories/plugin.ts'
import stars from '../plugins/stars/plugin.ts'
import templates from '../plugins/templates/plugin.ts'
import topics from '../plugins/topics/plugin.ts'
import watching from '../plugins/watching/plugin.ts'

export const shippedPlugins = [
  accounts,
  contents,
  gitData,
  gitHttp,
  instance,
  markup,
  repositories,
  stars,
  templates,
  topics,
  watching,
] as unknown as readonly Plugin[]
