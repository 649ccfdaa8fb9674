import { definePlugin } from '#core/contract'
import { createFiles } from './files.ts'
import { contentsNeeds } from './needs.ts'
import { rawRoutes } from './routes/raw.ts'
import { readRoutes } from './routes/reads.ts'
import { writeRoutes } from './routes/writes.ts'

export default definePlugin({
  name: 'contents',
  compat: '^1',
  summary: 'Reads files of repositories, and changes them by commits.',
  needs: contentsNeeds,
  routes: (use) => [...readRoutes(use), ...rawRoutes(use, createFiles(use)), ...writeRoutes(use)],
})
