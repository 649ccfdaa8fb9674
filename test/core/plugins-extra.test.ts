/** Plugins of others: found as folders and as packages, refused with the place of the mistake, running like ours. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { ConfigErrors } from '#core/config'
import type { Plugin } from '#core/contract'
import { shippedPlugins } from '../../config/plugins.ts'
import { createHost } from '../../core/host.ts'
import { loadExtraPlugins } from '../../core/plugins.ts'
import { startHost } from '../support/host.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const example = join(root, 'test', 'example-plugin', 'plugin.ts')
t.setTimeout(120_000)

/** A folder far from the host, so that nothing in it resolves by chance, with these files. */
async function away(t: Test, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-extra-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

const fromFile = (folder: string, text: string) => ({
  text,
  source: { kind: 'file', file: join(folder, 'app.ini'), line: 7 } as const,
})

/** What is said about a list of plugins that cannot be loaded. */
async function mistakesOf(folder: string, text: string, taken: readonly string[] = []): Promise<string[]> {
  try {
    await loadExtraPlugins(fromFile(folder, text), taken)
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error
    return error.mistakes.map((mistake) => mistake.text)
  }
  return []
}

const sound = `name: 'odd', compat: '^1', summary: 'For a test.'`
const exporting = (parts: string) => `export default { ${parts} }`

t.test('found by folder, in every spelling', async (t) => {
  const folder = await away(t, {
    'ts/plugin.ts': `const name: string = 'a-ts'\n${exporting(`${sound}, name`)}`,
    'js/plugin.js': exporting(`${sound}, name: 'a-js'`),
    'js/package.json': '{"type":"module"}',
    'mjs/plugin.mjs': exporting(`${sound}, name: 'a-mjs'`),
    'main/package.json': '{"type":"module","main":"lib/start.js"}',
    'main/lib/start.js': exporting(`${sound}, name: 'a-main'`),
    'cjs/package.json': '{"main":"start.cjs"}',
    'cjs/start.cjs': `require('switchyard/core/plugin').service('x.y'); module.exports = { ${sound}, name: 'a-cjs' }`,
  })
  const plugins = await loadExtraPlugins(fromFile(folder, `./ts, ./js,./mjs , ${join(folder, 'main')},./cjs,`), [])
  t.strictSame(
    plugins.map(({ name }) => name),
    ['a-ts', 'a-js', 'a-mjs', 'a-main', 'a-cjs'],
  )
})

t.test('found by name, from the folder of the configuration, then beside the host', async (t) => {
  const folder = await away(t, {
    'etc/app.ini': '',
    'node_modules/plain/package.json': '{"type":"module","main":"index.js"}',
    'node_modules/plain/index.js': exporting(`${sound}, name: 'a-plain'`),
    'node_modules/@some/body/package.json': '{"type":"module","exports":{".":{"import":"./index.js"}}}',
    'node_modules/@some/body/index.js': exporting(`${sound}, name: 'a-scoped'`),
  })
  const plugins = await loadExtraPlugins(fromFile(join(folder, 'etc'), 'plain, @some/body'), [])
  t.strictSame(
    plugins.map(({ name }) => name),
    ['a-plain', 'a-scoped'],
  )
  const [text] = await mistakesOf(folder, 'lru-cache')
  t.match(text, /default export is no plugin/, 'a package of the host itself is found, and is no plugin')
})

t.test('a list in the environment counts from the working directory', async (t) => {
  const folder = await away(t, { 'app.ini': '' })
  const SWITCHYARD__plugins__EXTRA = './test/example-plugin'
  const { switches } = await createHost([]).load({
    file: join(folder, 'app.ini'),
    env: { SWITCHYARD__plugins__EXTRA },
  })
  t.match(switches, [{ key: 'DISABLE_PUSH_COUNT' }], 'tests run in the root of the repository')
})

t.test('every plugin that cannot be loaded is named, with the reason', async (t) => {
  const folder = await away(t, {
    'empty/readme.txt': '',
    'nothing/plugin.ts': 'export const plugin = 1',
    'text/plugin.ts': 'export default "stars"',
    'nameless/plugin.ts': exporting(`compat: '^1', summary: 'x'`),
    'shouting/plugin.ts': exporting(`${sound}, name: 'Odd_One'`),
    'older/plugin.ts': exporting(`${sound}, compat: '^0.4'`),
    'newer/plugin.ts': exporting(`${sound}, compat: '^2'`),
    'vague/plugin.ts': exporting(`${sound}, compat: 'latest'`),
    'misspelled/plugin.ts': exporting(`${sound}, route: () => []`),
    'listed/plugin.ts': exporting(`${sound}, routes: []`),
    'throwing/plugin.ts': 'throw new Error("no licence")',
    'throwing-text/plugin.ts': 'throw "no licence"',
    'broken/plugin.ts': 'export default {',
    'lonely/plugin.ts': `import 'not-installed'\n${exporting(sound)}`,
    'wrong-room/plugin.ts': `import 'switchyard/core/kitchen'\n${exporting(sound)}`,
    'inside/plugin.ts': `import 'switchyard/core/db/pool.ts'\n${exporting(sound)}`,
    'taken/plugin.ts': exporting(`${sound}, name: 'stars'`),
    'one/plugin.ts': exporting(sound),
    'two/plugin.ts': exporting(sound),
    'node_modules/typed/package.json': '{"type":"module","main":"index.ts"}',
    'node_modules/typed/index.ts': exporting(sound),
    'node_modules/hollow/package.json': '{"type":"module","exports":{}}',
  })
  const cases: [string, RegExp][] = [
    ['./absent', /absent has no plugin\.ts, plugin\.js or package\.json with "main"$/],
    ['./empty', /empty has no plugin\.ts/],
    ['./nothing', /default export is no plugin; write export default definePlugin\(\{ … \}\)$/],
    ['./text', /default export is no plugin/],
    ['./nameless', /its plugin has no name$/],
    ['./shouting', /its name "Odd_One" is not of the form my-plugin$/],
    ['./older', /odd wants contract \^0\.4, this host offers 1$/],
    ['./newer', /odd wants contract \^2, this host offers 1$/],
    ['./vague', /odd wants contract latest, this host offers 1$/],
    ['./misspelled', /"route" is no part of a plugin; did you mean routes\?$/],
    ['./listed', /"routes" must be a function$/],
    ['./throwing', /throwing\/plugin\.ts cannot be loaded: no licence$/],
    ['./throwing-text', /throwing-text\/plugin\.ts cannot be loaded: no licence$/],
    ['./broken', /broken\/plugin\.ts cannot be loaded: ./],
    ['./lonely', /lonely\/plugin\.ts cannot be loaded: Cannot find package 'not-installed'/],
    [
      './wrong-room',
      /wrong-room\/plugin\.ts cannot be loaded: switchyard\/core\/kitchen is nothing that this host offers$/,
    ],
    ['./inside', /inside\/plugin\.ts cannot be loaded: .*pool\.ts is nothing that this host offers$/],
    ['./taken', /a plugin named stars is there already$/],
    ['typed', /typed\/index\.ts cannot be loaded: packages are JavaScript/],
    ['hollow', /hollow/],
    ['no-such-plugin', /no such package is installed, neither for .* nor beside Switchyard$/],
  ]
  for (const [name, reason] of cases) {
    const mistakes = await mistakesOf(folder, name, ['stars'])
    t.equal(mistakes.length, 1, name)
    t.ok(mistakes[0]?.startsWith(`[plugins] EXTRA: ${name}: `), name)
    t.match(mistakes[0], reason, name)
  }
  t.match(await mistakesOf(folder, './one, ./two'), [
    /^\[plugins\] EXTRA: \.\/two: a plugin named odd is there already$/,
  ])
  const all = await mistakesOf(folder, cases.map(([name]) => name).join(', '), ['stars'])
  t.equal(all.length, cases.length, 'all of them at once')
})

t.test('the command names the place and starts nothing', async (t) => {
  const folder = await away(t, { 'app.ini': '; ours\n[plugins]\nEXTRA = ./gone\n' })
  for (const line of [['serve'], ['plugins']]) {
    const failed = await run(join(root, 'bin/switchyard'), [...line, '--data', folder]).catch((error) => error)
    t.equal(failed.code, 1)
    t.match(failed.stderr, `${folder}/app.ini:3: [plugins] EXTRA: ./gone: ${folder}/gone has no plugin.ts`)
    t.notMatch(failed.stderr, /\n {4}at /, 'no stack')
  }
})

t.test('the example of the README', async (t) => {
  const text = await readFile(example, 'utf8')
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const block = /```ts\n([\s\S]*?)```/.exec(readme)?.[1]
  t.equal(block, text, 'stands there as it is tested here')

  const decoy = { 'node_modules/switchyard/package.json': '{"exports":{"./core/*":"./gone.js"}}' }
  const folder = await away(t, decoy)
  await cp(example, join(folder, 'push-count', 'plugin.ts'))
  await works(t, 'as a folder', fromFile(folder, './push-count'))

  const home = await away(t, {
    ...decoy,
    'node_modules/switchyard-push-count/package.json': '{"type":"module","exports":"./index.js"}',
  })
  await cp(example, join(home, 'node_modules', 'switchyard-push-count', 'index.js'))
  await works(t, 'as a package', fromFile(home, 'switchyard-push-count'))
})

/** Loads the example and uses all that it declares: its table, route, listener and switch. */
async function works(t: Test, how: string, listed: Parameters<typeof loadExtraPlugins>[0]): Promise<void> {
  await t.test(how, async (t) => {
    const extra = await loadExtraPlugins(
      listed,
      shippedPlugins.map(({ name }) => name),
    )
    const h = await startHost(t, { plugins: [...shippedPlugins, ...(extra as Plugin[])] })
    await h.user('ann')
    await h.user('stranger')
    t.equal((await h.call('POST', '/user/repos', { name: 'tea', private: true }, { as: 'ann' })).status, 201)
    const count = (as: string | null) => h.call('GET', '/repos/ann/tea/push-count', undefined, { as })
    t.strictSame((await count('ann')).body, { pushes: 0 })

    const work = join(h.folder, 'work')
    const git = (...args: string[]) => run('git', ['-C', work, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args])
    const push = async (message: string) => {
      await git('commit', '-q', '--allow-empty', '-m', message)
      await git('push', '-q', h.remote('ann', '/ann/tea.git'), 'HEAD:main')
    }
    await run('git', ['init', '-q', work])
    await push('one')
    await push('two')
    t.strictSame((await count('ann')).body, { pushes: 2 })
    t.equal((await count('stranger')).status, 404, 'who may not see the repository learns nothing')

    const flip = async (value: string) => {
      await h.rooms.settings.set('repository', 'DISABLE_PUSH_COUNT', value)
      await h.rooms.plugins.reconcile()
    }
    await flip('true')
    const off = await count('ann')
    t.match(off, { status: 403, body: { message: 'Nobody counts pushes.' } })
    await push('unseen')
    await flip('false')
    t.strictSame((await count('ann')).body, { pushes: 2 })

    const { body } = await h.call('GET', '//swagger.v1.json', undefined, { as: null })
    t.equal(body.paths['/repos/{owner}/{repo}/push-count'].get.operationId, 'repoGetPushCount')
    t.equal((await h.call('DELETE', '/repos/ann/tea', undefined, { as: 'ann' })).status, 204, 'its rows go along')
  })
}
