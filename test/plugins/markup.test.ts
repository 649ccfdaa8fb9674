import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Plugin } from '#core/contract'
import { anonymous } from '#core/identity'
import { Refusal } from '#core/plugin'
import { createRecord } from '#core/repos'
import type { MarkupMode, MarkupRequest } from '#plugins/markup'
import markupPlugin from '../../plugins/markup/plugin.ts'
import { renderDocument } from '../../plugins/markup/render/document.ts'
import { createMarkup } from '../../plugins/markup/service.ts'
import { startHost } from '../support/host.ts'
import { watchPulse } from '../support/pulse.ts'
import { payloads } from './markup/payloads.ts'
import { shapeOf } from './markup/shape.ts'

type Case = {
  readonly name: string
  readonly mode: string
  readonly text: string
  readonly context?: string
  readonly path?: string
  readonly wiki?: true
  readonly filePath?: string
  readonly status?: number
  readonly html: string
  /** Why we answer otherwise. */
  readonly differs?: string
}
type Recording = { readonly base: string; readonly people: readonly string[]; readonly cases: readonly Case[] }

const recording: Recording = JSON.parse(readFileSync(new URL('../parity/markup.json', import.meta.url), 'utf8'))
const knownPeople = async (_viewer: unknown, names: readonly string[]) =>
  new Set(names.filter((name) => recording.people.includes(name)))

const markup = createMarkup({ knownPeople })
t.teardown(() => markup.close())

const render = (text: string, mode: string, more: Partial<MarkupRequest> = {}) =>
  markup.render({ text, mode: mode as MarkupMode, base: recording.base, viewer: anonymous, ...more })

const refusalOf = async (work: Promise<unknown>): Promise<Refusal> => {
  try {
    await work
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** Plays one recorded request. Unknown modes are the routes' to refuse. */
async function play({ text, mode, wiki, context, filePath, path }: Case): Promise<string> {
  const inRepository = path?.startsWith('/repos/') && { repository: { owner: 'mkalice', name: 'demo' } }
  return render(text, wiki ? 'wiki' : mode, {
    ...(context && { context }),
    ...(filePath && { filePath }),
    ...inRepository,
  })
}

t.test('answers what the reference answered, but for what is explained', async (t) => {
  const unknownMode = (one: Case) => one.html.startsWith('unsupported render mode')
  for (const one of recording.cases.filter((one) => !unknownMode(one))) {
    const name = `${one.name} [${one.mode}] ${one.path ?? ''}${one.context ?? ''}`
    if (one.status === 422) {
      t.equal((await refusalOf(play(one))).message, one.html.trim(), name)
      continue
    }
    const ours = await play(one).catch((error: Error) => error.message)
    if (one.differs) t.not(shapeOf(ours), shapeOf(one.html), `${name}: ${one.differs}`)
    else t.equal(shapeOf(ours), shapeOf(one.html), name)
  }
})

const tagNames =
  /^(?:h[1-6]|p|div|section|article|center|hr|br|wbr|span|b|i|u|s|em|strong|small|mark|del|ins|strike|sub|sup|q|cite|dfn|abbr|code|tt|samp|kbd|var|pre|time|progress|bdi|bdo|ruby|rp|rt|ul|ol|li|dl|dt|dd|blockquote|details|summary|figure|figcaption|table|caption|colgroup|col|thead|tbody|tfoot|tr|th|td|a|img|picture|source|video|input)$/
const addresses = new Set(['href', 'src', 'srcset', 'cite', 'poster'])

/** What is wrong with a piece of HTML. It has to keep to a grammar that every parser reads alike. */
function faultsOf(html: string): string[] {
  const faults: string[] = []
  if (/[<>]/.test(html.replaceAll(/<[^<>]*>/g, ''))) faults.push('a stray angle bracket')
  for (const [whole, tag = ''] of html.matchAll(/<([^<>]*)>/g)) {
    const [, name = '', attributes = ''] = /^\/?([a-z][a-z0-9]*)((?: [a-z-]+="[^"<>]*")*)$/.exec(tag) ?? []
    if (!tagNames.test(name)) faults.push(`a tag: ${whole}`)
    for (const [, key = '', value = ''] of attributes.matchAll(/ ([a-z-]+)="([^"]*)"/g)) {
      if (/^on|^style$|^(?:srcdoc|action|formaction|background|xlink)/.test(key) && !harmlessStyle(key, value))
        faults.push(whole)
      if (addresses.has(key) && !harmlessAddress(value)) faults.push(whole)
      if (key === 'id' && !/^(?:fn:|fnref:)?user-content-/.test(value)) faults.push(whole)
      if (key === 'class' && /modal|fixed/.test(value)) faults.push(whole)
    }
  }
  return faults
}

const harmlessStyle = (key: string, value: string) =>
  key === 'style' && /^(?:(?:background-)?color: ?(?:[a-z]+|#[0-9a-f]+|(?:rgb|hsl)a?\([\d.,%\s/]+\));?)*$/i.test(value)

/** As a browser reads it: blanks and control characters count for nothing. */
function harmlessAddress(value: string): boolean {
  const plain = [...value].filter((one) => (one.codePointAt(0) ?? 0) > 0x20).join('')
  const scheme = /^([^/?#:]*):/.exec(plain)?.[1]?.toLowerCase()
  return scheme === undefined || /^(?:https?|mailto)$/.test(scheme)
}

t.test('nothing that people write can run', async (t) => {
  t.same(faultsOf('<p>x</p>'), [], 'the judge lets harmless HTML pass')
  for (const bad of [
    '<p onclick="x">',
    '<a href="java\tscript:x">',
    '<script>',
    '<a href=x>',
    '<p style="color: url(x)">',
    'a > b',
  ])
    t.not(faultsOf(bad).length, 0, `the judge sees ${bad}`)

  for (const payload of payloads) {
    for (const mode of ['markdown', 'gfm', 'comment', 'wiki']) {
      for (const text of [payload, `a ${payload} b`, `> - ${payload.replaceAll('\n', '\n>   ')}`, `<div>${payload}`]) {
        const html = await render(text, mode, { context: '/mkalice/demo' })
        const faults = faultsOf(html)
        if (faults.length > 0) t.same(faults, [], `${mode}: ${text}`)
      }
    }
    const table = await render(`a,b\n"${payload.replaceAll('"', '""')}",x\n`, 'file', { filePath: 'x.csv' })
    if (faultsOf(table).length > 0) t.same(faultsOf(table), [], `csv: ${payload}`)
  }
  t.ok(payloads.length > 80)
})

t.test('include directives of other formats are only text', async (t) => {
  for (const text of [
    '#+INCLUDE: "/etc/passwd"',
    'include::/etc/passwd[]',
    '.. include:: /etc/passwd',
    '{{#include /etc/passwd}}',
  ]) {
    t.match(await render(text, 'gfm', { context: '/mkalice/demo' }), text.slice(0, 8))
    t.notMatch(await render(text, 'markdown'), 'root:')
  }
})

t.test('classes and marks of ours cannot be forged', async (t) => {
  const html = await render(
    '<p class="ref-issue" data-g="x ref-issue">a</p><code data-g="hljs language-js">if</code>',
    'gfm',
  )
  t.notMatch(html, 'class=')
  t.notMatch(html, 'data-g')
})

t.test('mentions ask once, with each name once', async (t) => {
  const asked: (readonly string[])[] = []
  const own = createMarkup({
    knownPeople: async (_viewer, names) => {
      asked.push(names)
      return new Set(['ann'])
    },
  })
  t.teardown(() => own.close())
  const html = await own.render({
    text: '@ann @Ann @bob. `@cat`',
    mode: 'comment',
    base: 'https://f.test',
    viewer: anonymous,
  })
  t.match(html, '<a href="https://f.test/ann" data-markdown-generated-content="" rel="nofollow">@ann</a>')
  t.match(html, '>@Ann</a> @bob.')
  t.same(asked, [['ann', 'bob', 'cat']])
  await own.render({ text: '@ann', mode: 'markdown', base: 'https://f.test', viewer: anonymous })
  t.equal(asked.length, 1, 'plain texts ask nothing')
})

t.test('sets of sources lead under the context, broken ones nowhere', async (t) => {
  const picture = (set: string) => render(`<picture><source srcset="${set}"></picture>`, 'gfm', { context: '/a/b' })
  const root = `${recording.base}/a/b/media`
  t.match(await picture('x.png 1x, https://x.test/y.png 2x'), `srcset="${root}/x.png 1x, https://x.test/y.png 2x"`)
  for (const broken of ['x.png y.png', 'javascript:x', 'data:image/svg+xml,x', 'x.png 1q'])
    t.notMatch(await picture(broken), 'srcset')
})

t.test('code is coloured, as text', async (t) => {
  const html = await render('```js\nconst a = "<b>"\n```', 'gfm')
  t.match(html, '<span class="hljs-keyword">const</span>')
  t.match(html, '&lt;b&gt;')
})

t.test('tables', async (t) => {
  const csv = (text: string, filePath = 'x.csv') => render(text, 'file', { filePath })
  t.match(await csv('"a\nb",c\n'), '<th>a\nb</th><th>c</th>')
  t.match(await csv('a|b\n1|2\n'), '<td>1</td><td>2</td>')
  t.match(await csv('a\t"b\n', 'x.TSV'), '<th>&quot;b</th>')
  t.match(await csv('a,"b\n'), '<table', 'an open quote is no failure')
  t.equal((await refusalOf(csv('a,'.repeat(300_000)))).kind, 'invalid')
  t.equal(markup.canRender('docs/README.MD'), true)
  t.equal(markup.canRender('docs/README.org'), false)
})

const many = (text: string, length = 100_000) => text.repeat(Math.ceil(length / text.length))
const stairs = (step: (n: number) => string) => Array.from({ length: 400 }, (_, n) => step(n)).join('\n')

/** Texts that cost some parser more than they are long. */
const heavy: Readonly<Record<string, string>> = {
  brackets: many('['),
  links: many('[a]('),
  images: many('!['),
  'back quotes': stairs((n) => `${'`'.repeat(n)}a`),
  emphasis: many('*a **a _b '),
  quotes: many('> '),
  'quotes without blanks': many('>'),
  lists: stairs((n) => `${' '.repeat(n)}- a`),
  tildes: many('~a~~a '),
  dollars: many('$a '),
  'open tags': many('<a '),
  elements: many('<div>'),
  comments: many('<!-- '),
  entities: many('&amp'),
  'footnote references': many('[^1]'),
  'wide table': `${many('|a', 4000)}\n${many('|-', 4000)}\n${many('|\n')}`,
  mentions: many('@a '),
  'at signs': many('@'),
  urls: many('http://'),
  'closing parentheses': `http://${many(')')}`,
  addresses: many('a@a.'),
  references: many('fixes #1 '),
  colons: many(':a'),
  'wiki links': many('[['),
  attributes: `# ${many('{#a ')}`,
  definitions: many('a\n: b\n'),
  'front matter': `---\n${many('- \n')}`,
  styles: `<p style="${many('color:red;')}">`,
  'code that never ends': `\`\`\`js\n${many('/*')}\n\`\`\``,
  'deep code': `\`\`\`js\n${many('a(')}\n\`\`\``,
  emoji: many('👩‍'),
}

t.test('evil texts cost no more than they are long', async (t) => {
  const surroundings = {
    base: 'https://f.test',
    places: { links: 'https://f.test/l', images: 'https://f.test/i' },
    repository: { owner: 'a', name: 'b' },
    shortReferences: true,
    people: new Set<string>(),
  }
  for (const [name, text] of Object.entries(heavy)) {
    const time = (length: number) => {
      const started = process.cpuUsage()
      renderDocument({
        text: text.slice(0, length),
        as: { kind: 'markdown' },
        breaks: false,
        headingIds: true,
        idSuffix: '',
        surroundings,
      })
      const used = process.cpuUsage(started)
      return (used.user + used.system) / 1000
    }
    time(1000)
    const cost = time(text.length)
    t.ok(cost < 3000, `${name}: ${Math.round(cost)} ms`)
  }
})

t.test('a text that takes too long takes only itself along', async (t) => {
  const impatient = createMarkup({ knownPeople, threads: { deadline: 700, size: 1 } })
  t.teardown(() => impatient.close())
  const ask = (text: string) => impatient.render({ text, mode: 'gfm', base: 'https://f.test', viewer: anonymous })
  t.match(await ask('*warm*'), '<em>warm</em>')

  const started = performance.now()
  const pulse = watchPulse()
  const notes = Array.from({ length: 30_000 }, (_, n) => `[^${n}] [^${n}]: x\n\n[^${n}]: y\n`).join('')
  const [refusal, after] = await Promise.all([refusalOf(ask(notes)), ask('after')])
  const longest = pulse.stop()
  t.same([refusal.kind, refusal.message], ['invalid', 'the text takes too long to render'])
  t.match(after, 'after', 'the next one gets a fresh thread')
  t.ok(performance.now() - started < 10_000)
  t.ok(longest < 20, `the loop went on: ${longest} ms`)
})

t.test('too much memory is refused, too many waiting are, and closing refuses the rest', async (t) => {
  const small = createMarkup({ knownPeople, threads: { memory: 24, size: 1, queue: 2, deadline: 20_000 } })
  const ask = (text: string) => small.render({ text, mode: 'gfm', base: 'https://f.test', viewer: anonymous })
  t.equal((await refusalOf(ask(many('- [ ] [a](b) `#fff`\n', 900_000)))).kind, 'invalid')
  t.match(await ask('fine'), 'fine')
  const crowd = Promise.allSettled([ask('a'), ask('b'), ask('c'), ask('d'), ask('e')])
  const refused = (await crowd).filter((one) => one.status === 'rejected')
  t.ok(refused.length > 0 && refused.every((one) => (one.reason as Refusal).kind === 'unavailable'))
  const last = refusalOf(ask('x'))
  await small.close()
  t.equal((await last).kind, 'unavailable')
  t.equal((await refusalOf(ask('y'))).kind, 'unavailable')
})

t.test('over HTTP', async (t) => {
  const host = await startHost(t, { plugins: [markupPlugin as unknown as Plugin] })
  const owner = await host.user('mkalice')
  await host.user('shy', { visibility: 'private' })
  await host.user('ann')
  const post = (path: string, body: unknown, as: string | null = 'ann', headers: Record<string, string> = {}) =>
    host.call('POST', path, body, { as, headers })

  const rendered = await post('/markup', { Text: '# Hi @mkalice @shy #1', Mode: 'gfm', Context: '/mkalice/demo' })
  t.equal(rendered.status, 200)
  t.match(rendered.headers.get('content-type'), /^text\/html/)
  t.match(rendered.headers.get('content-security-policy'), 'sandbox')
  t.match(
    rendered.body,
    `<a href="${host.base}/mkalice" data-markdown-generated-content="" rel="nofollow">@mkalice</a> @shy #1`,
  )
  t.match((await post('/markup', { Text: '@shy', Mode: 'gfm' }, 'shy')).body, '/shy"', 'people see themselves')
  t.match((await post('/markdown', { Text: '#1', Mode: 'gfm', Context: '/a/b', Wiki: true })).body, '/a/b/issues/1"')
  t.equal((await post('/markdown', { text: 'a *b*' })).body, '<p dir="auto">a <em>b</em></p>\n')

  const empty = await post('/markup', { Text: '' })
  t.same([empty.status, empty.body], [200, ''])

  const raw = await post('/markdown/raw', 'a *b* ü', 'ann', { 'content-type': 'application/octet-stream' })
  t.same([raw.status, raw.body], [200, '<p dir="auto">a <em>b</em> ü</p>\n'])
  t.equal((await post('/markdown/raw', 'x'.repeat(1_100_000), 'ann', { 'content-type': 'text/plain' })).status, 413)
  t.equal((await post('/markdown', { Text: 'x'.repeat(1_100_000) })).status, 413)

  const refusals: [string, object, string][] = [
    ['/markup', { Text: 'x', Mode: 'nope' }, 'unsupported render mode: nope'],
    ['/markdown', { Mode: 'toString' }, 'unsupported render mode: toString'],
    ['/markup', { Text: 'x', Mode: 'file', FilePath: 'a.org' }, 'unable to find a render'],
    ['/markdown', { Text: 'x', Mode: 'file', FilePath: 'a.md' }, 'unable to find a render'],
  ]
  for (const [path, body, message] of refusals) {
    const refused = await post(path, body)
    t.equal(refused.status, 422)
    t.match(refused.body, { message, url: String })
  }
  for (const path of ['/markup', '/markdown', '/markdown/raw']) t.equal((await post(path, {}, null)).status, 401, path)
  const token = await host.tokenWith('ann', ['read:user'])
  const scoped = await host.call('POST', '/markdown', { Text: 'x' }, { auth: `token ${token}` })
  t.equal(scoped.status, 200, 'no scope is needed')

  await t.test('below a repository', async (t) => {
    const { opened, repos } = host.rooms
    for (const [name, isPrivate] of [
      ['demo', false],
      ['hidden', true],
    ] as const) {
      const wanted = { name, isPrivate, defaultBranch: 'main', units: repos.newUnits('normal') }
      await opened.database.tx((tx) => createRecord(tx, owner, owner.id, wanted))
    }
    const here = '/repos/mkalice/demo'
    const comment = await post(`${here}/markup`, { Text: '#1 [a](b)', Mode: 'comment', Context: '/other/place' })
    t.match(comment.body, `href="${host.base}/mkalice/demo/issues/1"`)
    t.match(comment.body, `href="${host.base}/mkalice/demo/b"`)
    const placed = await post(`${here}/markdown`, {
      Text: '[a](b)',
      Mode: 'gfm',
      Context: '/mkalice/demo/src/branch/main/d',
    })
    t.match(placed.body, `href="${host.base}/mkalice/demo/src/branch/main/d/b"`)
    t.equal((await post(`${here}/markdown/raw`, '*x*', 'ann', { 'content-type': 'text/plain' })).status, 200)
    t.equal((await post(`${here}/markup`, { Text: 'x' }, null)).status, 401)
    for (const place of ['/repos/mkalice/hidden', '/repos/mkalice/none'])
      t.equal((await post(`${place}/markup`, { Text: 'x' })).status, 404, place)
    t.equal((await post('/repos/mkalice/hidden/markup', { Text: 'x' }, 'mkalice')).status, 200)
    const swagger = await host.call('GET', '//swagger.v1.json', undefined, { as: null })
    t.ok(swagger.body.paths['/markup'])
    t.equal(swagger.body.paths['/repos/{owner}/{repo}/markup'], undefined, 'the contract does not describe these')
  })
})
