/**
 * The shape of the tree, read from import lines. Every rule is first fed a tree that breaks it, so that a rule which
 * finds nothing is known to be able to.
 */
import { resolve } from 'node:path'
import t from 'tap'
import * as rules from './support/architecture/rules.ts'
import { parse, readSources } from './support/architecture/sources.ts'

type Tree = Readonly<Record<string, string>>
type Case = {
  readonly what: string
  readonly rule: rules.Rule
  readonly bad: readonly Tree[]
  readonly good: readonly Tree[]
}

const filesOf = (tree: Tree) => Object.entries(tree).map(([path, text]) => parse({ path, text }))
const long = (lines: number) => 'export const x = 1\n'.repeat(lines)

const whole = { 'plugins/a/plugin.ts': 'x', 'plugins/a/README.md': 'x' }

const cases: readonly Case[] = [
  {
    what: 'rooms import downward, by their doors',
    rule: rules.importsDownward,
    bad: [
      { 'core/db/x.ts': "import { a } from '../http/index.ts'" },
      { 'core/db/x.ts': "import type { A } from '../http/index.ts'" },
      { 'core/http/x.ts': "import {\n  a,\n  b,\n} from '../db/orm.ts'" },
      { 'core/http/x.ts': "export * from '../db/orm.ts'" },
      { 'core/http/x.ts': "const x = await import('../cli/index.ts')" },
      { 'core/http/x.ts': "import { boot } from '../boot.ts'" },
      { 'core/http/x.ts': "import { log } from '../log.ts'", 'core/log.ts': "import { a } from './db/index.ts'" },
      { 'core/repos/git/x.ts': "import { a } from '../../http/index.ts'" },
      { 'core/extra/x.ts': "import { a } from '../db/index.ts'" },
      { 'core/boot.ts': "import { a } from './db/orm.ts'" },
    ],
    good: [
      { 'core/http/x.ts': "import { a } from '../db/index.ts'\nimport { b } from './y.ts'" },
      { 'core/repos/entities.ts': "import { Account } from '../identity/entities.ts'" },
      { 'core/boot.ts': "import { a } from './cli/index.ts'" },
      { 'core/http/x.ts': "import { log } from '../log.ts'", 'core/log.ts': 'export const log = 1' },
      { 'core/db/x.ts': "// import { a } from '../http/index.ts'\nconst text = 'from x'" },
    ],
  },
  {
    what: 'core knows no plugin',
    rule: rules.coreKnowsNoPlugin,
    bad: [
      { 'core/http/x.ts': "import { Stars } from '#plugins/stars'" },
      { 'core/http/x.ts': "import { Stars } from '../../plugins/stars/api.ts'" },
      { 'core/http/x.ts': "import { all } from '../../config/plugins.ts'" },
      { 'core/http/x.ts': "if (name === 'stars') skip()", 'plugins/stars/plugin.ts': 'x' },
    ],
    good: [
      { 'core/index.ts': "import { shippedPlugins } from '../config/plugins.ts'" },
      { 'core/http/x.ts': "// 'stars'\nconst stars_count = 1", 'plugins/stars/plugin.ts': 'x' },
    ],
  },
  {
    what: 'plugins enter core and each other by the doors',
    rule: rules.pluginsUseDoors,
    bad: [
      { 'plugins/a/routes/x.ts': "import { a } from '../../../core/db/index.ts'" },
      { 'plugins/a/x.ts': "import { a } from '#core/db/orm'" },
      { 'plugins/a/x.ts': "import { b } from '../b/api.ts'" },
      { 'plugins/a/x.ts': "import { b } from '#plugins/b/service'" },
      { 'plugins/a/x.ts': "import { b } from '#plugins/a'" },
    ],
    good: [
      {
        'plugins/a/routes/x.ts':
          "import { a } from '#core/db'\nimport { b } from '#plugins/b'\nimport { c } from '../service.ts'",
      },
    ],
  },
  {
    what: 'plugins import only from plugins whose tokens they need',
    rule: rules.pluginsDeclareNeeds,
    bad: [
      { 'plugins/a/service.ts': "import { B } from '#plugins/b'" },
      {
        'plugins/a/plugin.ts':
          "import { B, other } from '#plugins/b'\nexport default definePlugin({ needs: { db: Database }, start: other })",
      },
      { 'plugins/a/plugin.ts': "import type { B } from '#plugins/b'\nexport default { needs: { b: B } }" },
    ],
    good: [
      {
        'plugins/a/plugin.ts':
          "import { B } from '#plugins/b'\nexport default definePlugin({ needs: { db: Database, b: maybe(B) } })",
        'plugins/a/service.ts': "import type { Thing } from '#plugins/b'",
      },
      { 'plugins/a/needs.ts': "import { B } from '#plugins/b'\nexport const aNeeds = {\n  b: B,\n}" },
    ],
  },
  {
    what: 'a heavy library has one owner',
    rule: rules.librariesHaveOneOwner,
    bad: [
      { 'plugins/a/x.ts': "import { MikroORM } from '@mikro-orm/postgresql'" },
      { 'plugins/a/x.ts': "import { defineEntity } from '@mikro-orm/core'" },
      { 'plugins/a/entities.ts': "import { defineEntity, MikroORM } from '@mikro-orm/core'" },
      { 'core/http/x.ts': "import { Kysely, sql } from 'kysely'" },
      { 'core/http/x.ts': "import pg from 'pg'" },
      { 'core/identity/x.ts': "import { Queue } from 'bullmq'" },
      { 'plugins/a/x.ts': "import fastify from 'fastify'" },
      { 'plugins/a/x.ts': "import '@fastify/multipart'" },
    ],
    good: [
      { 'core/db/orm.ts': "import { MikroORM } from '@mikro-orm/postgresql'" },
      { 'plugins/a/entities.ts': "import { defineEntity, p } from '@mikro-orm/core'" },
      {
        'plugins/a/queries.ts':
          "import { type Selectable, sql } from 'kysely'\nimport type { FastifyReply } from 'fastify'",
      },
    ],
  },
  {
    what: 'one client calls other hosts',
    rule: rules.oneOutboundClient,
    bad: [
      { 'plugins/a/x.ts': 'await fetch(url)' },
      { 'plugins/a/x.ts': 'const get = globalThis.fetch' },
      { 'core/http/x.ts': "import { request } from 'node:https'" },
      { 'core/http/x.ts': "import http from 'node:http'" },
      { 'core/http/x.ts': "import { Agent } from 'undici'" },
    ],
    good: [
      { 'core/http/outbound.ts': 'await fetch(url)' },
      {
        'core/http/x.ts': "import type { IncomingMessage } from 'node:http'\nimport { createServer } from 'node:http'",
      },
      { 'plugins/a/x.ts': "git.fetch(x)\n// fetch(url)\nprefetch('x')" },
    ],
  },
  {
    what: 'few places start programs',
    rule: rules.fewSpawn,
    bad: [
      { 'core/http/x.ts': "import { spawn } from 'node:child_process'" },
      { 'plugins/stars/x.ts': "import { execFile } from 'child_process'" },
    ],
    good: [{ 'core/repos/git/run.ts': "import { spawn } from 'node:child_process'" }],
  },
  {
    what: 'plugins have one shape',
    rule: rules.pluginsHaveOneShape,
    bad: [
      { 'plugins/a/plugin.ts': 'x' },
      { 'plugins/a/README.md': 'x', 'plugins/a/api.ts': 'x' },
      { ...whole, 'plugins/a/helpers.ts': 'x' },
      { ...whole, 'plugins/a/misc/x.ts': 'x' },
      { ...whole, 'plugins/a/picture.png': 'x' },
      { ...whole, 'plugins/a/service.ts': "import { route } from '#core/http'" },
      { ...whole, 'plugins/a/queries.ts': "import { after, type Listener } from '#core/work'" },
      { ...whole, 'plugins/a/service.ts': "import { point } from '#core/plugin'" },
      { ...whole, 'plugins/a/tables.ts': "import { defineEntity, p } from '@mikro-orm/core'" },
    ],
    good: [
      {
        ...whole,
        'plugins/a/routes/x.ts': "import { route } from '#core/http'",
        'plugins/a/listeners.ts': "import { after } from '#core/work'",
        'plugins/a/follows.ts': "import { type Route, list } from '#core/http'",
      },
    ],
  },
  {
    what: 'files are short',
    rule: rules.filesAreShort,
    bad: [{ 'core/db/x.ts': long(401) }, { 'plugins/a/plugin.ts': long(80) }, { 'plugins/a/api.ts': long(60) }],
    good: [{ 'core/db/x.ts': long(400), 'plugins/a/plugin.ts': long(79), 'plugins/a/api.ts': long(59) }],
  },
  {
    what: 'a file has content',
    rule: rules.filesHaveContent,
    bad: [{ 'core/db/x.ts': '' }, { 'plugins/a/README.md': ' \n' }, { 'core/db/x.ts': '// later\n/* much later */\n' }],
    good: [{ 'core/db/x.ts': 'export const x = 1' }],
  },
  {
    what: 'nothing is left open',
    rule: rules.nothingIsLeftOpen,
    bad: [
      { 'core/db/x.ts': '// TO' + 'DO: more' },
      { 'core/db/x.ts': '// @ts-' + 'ignore' },
      { 'bench/x.ts': '// FIX' + 'ME' },
    ],
    good: [{ 'core/db/x.ts': 'export const todo_list = 1' }],
  },
  {
    what: 'plugins are listed in one place',
    rule: rules.pluginsAreListedOnce,
    bad: [{ 'core/boot.ts': "import stars from '../plugins/stars/plugin.ts'" }],
    good: [{ 'config/plugins.ts': "import stars from '../plugins/stars/plugin.ts'" }],
  },
]

const tree = readSources(resolve(import.meta.dirname, '..')).map(parse)

t.ok(tree.length > 50, `${tree.length} files are read`)
for (const { what, rule, bad, good } of cases) {
  t.test(what, async (t) => {
    for (const example of bad)
      t.ok(rule(filesOf(example)).length > 0, `finds what is wrong with ${JSON.stringify(example).slice(0, 90)}`)
    for (const example of good) t.same(rule(filesOf(example)), [])
    for (const line of rule(tree)) t.fail(line, { at: null, stack: '' })
  })
}
for (const line of rules.filesAreLong(tree)) t.comment(`long: ${line}`)
