import { definePlugin } from '#core/contract'
import { Database } from '#core/db'
import { Identity } from '#core/identity'
import { maybe } from '#core/plugin'
import { Markup } from './api.ts'
import { knownPeople } from './queries.ts'
import { markupRoutes } from './routes.ts'
import { createMarkup } from './service.ts'

export default definePlugin({
  name: 'markup',
  compat: '^1',
  summary: 'Renders Markdown and tables as safe HTML.',
  needs: { db: Database, identity: Identity, markup: maybe(Markup) },
  provides: [Markup],
  routes: markupRoutes,
  start({ use, provide, effect }) {
    const markup = createMarkup({ knownPeople: (viewer, names) => knownPeople(use.db, use.identity, viewer, names) })
    effect('render threads', markup.close)
    provide(Markup, markup)
  },
})
