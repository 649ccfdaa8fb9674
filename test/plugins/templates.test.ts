import t from 'tap'
import type { Plugin } from '#core/contract'
import { detectLanguages, type FileSample, languageOf } from '../../plugins/templates/languages.ts'
import templatesPlugin from '../../plugins/templates/plugin.ts'
import { createTemplates } from '../../plugins/templates/service.ts'
import { startHost } from '../support/host.ts'
import { watchPulse } from '../support/pulse.ts'

const templates = await createTemplates()
const bodyOf = (key: string) => templates.license(key)?.body ?? ''

t.test('lists are sorted and complete', async (t) => {
  const names = templates.gitignores()
  t.same(names, [...names].sort())
  t.ok(names.length > 150)
  for (const name of ['Go', 'Node', 'Python', 'MATLAB', 'macOS', 'Zig']) t.ok(templates.gitignore(name)?.trim(), name)
  t.notOk(names.includes('Matlab'))
  t.equal(templates.gitignore('node'), undefined, 'names are case-sensitive')
  t.equal(templates.gitignore('../package'), undefined)
  const keys = templates.licenses().map(({ key }) => key)
  t.same(keys, [...keys].sort())
  t.equal(keys.length, 28)
  t.same(templates.labelSets(), ['Advanced', 'Default'])
  t.equal(templates.labelSet('Default')?.length, 7)
  t.equal(templates.labelSet('Advanced')?.filter((label) => label.exclusive).length, 11)
  t.equal(templates.readme('Default', { name: 'x', description: 'y\nz' }), '# x\n\ny\nz')
  t.equal(templates.readme('Other', { name: 'x', description: 'y' }), undefined)
})

t.test('every licence that is offered is recognised, filled in or not', async (t) => {
  for (const { key, body } of templates.licenses()) {
    const signed = body.replace('<year>', '2024').replace(/<copyright holders>|<owner>/, 'Jane Doe and others')
    t.same(await templates.detectLicense(signed), [key], key)
    t.same(await templates.detectLicense(body.toUpperCase().replaceAll('\n', '\r\n')), [key], `${key} in other letters`)
  }
})

t.test('licences beside and without each other', async (t) => {
  t.same(await templates.detectLicense(`${bodyOf('MIT')}\n\n${bodyOf('Apache-2.0')}`), ['Apache-2.0', 'MIT'])
  t.same(await templates.detectLicense(`# Some project\n\nSome words.\n\n${bodyOf('ISC')}`), ['ISC'])
  t.same(await templates.detectLicense(bodyOf('Apache-2.0').split('APPENDIX')[0] ?? ''), ['Apache-2.0'])
  t.same(await templates.detectLicense(`/*\n${bodyOf('MIT').replaceAll(/^/gm, ' * ')}*/`), ['MIT'], 'inside a comment')
  for (const text of [
    '',
    'All rights reserved.',
    'hello world '.repeat(5000),
    bodyOf('MIT').slice(0, 400),
    '\0'.repeat(1000),
  ])
    t.same(await templates.detectLicense(text), [])
})

t.test('finding licences lets others work', async (t) => {
  const fresh = await createTemplates()
  const words = Array.from({ length: 200_000 }, (_, n) => `word${n}`).join(' ')
  const pulse = watchPulse()
  const found = [await fresh.detectLicense(words), await fresh.detectLicense(bodyOf('GPL-3.0'))]
  const longest = pulse.stop()
  t.same(found, [[], ['GPL-3.0']])
  t.ok(longest < 20, `never more than 20 ms: ${longest}`)
})

const file = (path: string, head: string): FileSample => ({ path, size: Buffer.byteLength(head), head })
const languagesOf = async (...files: FileSample[]) => Object.fromEntries(await detectLanguages(files))

t.test('languages by name', async (t) => {
  const named: Readonly<Record<string, string | undefined>> = {
    'src/a.go': 'Go',
    'a.TS': 'TypeScript',
    'a.html.erb': 'HTML+ERB',
    Makefile: 'Makefile',
    'sub/Dockerfile': 'Dockerfile',
    'CMakeLists.txt': 'CMake',
    'a.h': 'C',
    'a.rs': 'Rust',
    'a.pl': 'Perl',
    'a.cs': 'C#',
    'a.md': 'Markdown',
    'a.unknown': undefined,
    constructor: undefined,
    'x.__proto__': undefined,
  }
  for (const [path, language] of Object.entries(named)) t.equal(languageOf({ path, size: 1 }), language, path)
})

t.test('languages by what is written', async (t) => {
  const judged: [string, string, string | undefined][] = [
    ['a.h', 'class A { public: int x; };\n', 'C++'],
    ['a.h', '#import <Foundation/Foundation.h>\n@interface A\n@end\n', 'Objective-C'],
    ['a.h', 'int x;\n', 'C'],
    ['a.m', 'function y = f(x)\ny = 1;\nend\n', 'MATLAB'],
    ['a.m', '@implementation A\n@end\n', 'Objective-C'],
    ['a.cls', 'VERSION 1.0 CLASS\n', 'VBA'],
    ['a.cls', '\\NeedsTeXFormat{LaTeX2e}\n', 'TeX'],
    ['a.cl', '(defun a ())\n', 'Common Lisp'],
    ['a.v', 'module x;\nendmodule\n', 'Verilog'],
    ['run', '#!/bin/bash\necho 1\n', 'Shell'],
    ['run', '#!/usr/bin/env python3.12\nprint(1)\n', 'Python'],
    ['run', '#! /usr/bin/env -S node --flag\n', 'JavaScript'],
    ['run', 'just text\n', undefined],
  ]
  for (const [path, head, language] of judged) {
    t.equal(languageOf(file(path, head)), language, `${path}: ${head.split('\n')[0]}`)
  }
})

t.test('only own work counts, and dialects count for their language', async (t) => {
  t.same(
    await languagesOf(
      file('a.ts', 'const a = 1\n'),
      file('b.tsx', '<a/>\n'),
      file('a.go', 'package a\n'),
      file('a_test.go', 'package a\n'),
      file('.github/run.sh', 'echo\n'),
    ),
    { Go: 20, TypeScript: 17, Shell: 5 },
  )
  const others = [
    file('vendor/a.go', 'package a\n'),
    file('node_modules/x/index.js', 'x\n'),
    file('third_party/a.c', 'int x;\n'),
    file('dist/a.js', 'x\n'),
    file('jquery-3.7.1.min.js', 'x\n'),
    file('lib.min.js', 'x\n'),
    file('types.d.ts', 'declare const x: 1\n'),
    file('docs/conf.py', 'x\n'),
    file('examples/a.rs', 'fn main() {}\n'),
    file('a.pb.go', 'package a\n'),
    file('gen.go', '// Code generated by x. DO NOT EDIT.\npackage a\n'),
    file('bundle.js', 'x'.repeat(5000)),
    file('package-lock.json', '{}\n'),
    file('.hidden.py', 'x\n'),
    file('a.json', '{}\n'),
    file('a.yml', 'a: 1\n'),
    file('a.sql', 'select 1\n'),
    file('README.md', '# x\n'),
    file('a.txt', 'x\n'),
    { path: 'empty.go', size: 0 },
  ]
  for (const one of others) t.same(await languagesOf(one), {}, one.path)
})

t.test('sizes come from the file, not from its head, most first; names can be hostile', async (t) => {
  const sizes = await detectLanguages([
    { path: 'a.py', size: 10 },
    { path: 'b.rb', size: 5_000_000, head: 'puts 1\n' },
    { path: 'c.lua', size: 10 },
  ])
  t.same(
    [...sizes],
    [
      ['Ruby', 5_000_000],
      ['Lua', 10],
      ['Python', 10],
    ],
  )
  const started = performance.now()
  for (const path of ['.'.repeat(5000), 'a.'.repeat(5000), '/'.repeat(5000), `${'a/'.repeat(3000)}x.c`, '', '\0'])
    await detectLanguages([{ path, size: 1, head: `#!${' '.repeat(10_000)}${'/'.repeat(10_000)}` }])
  t.ok(performance.now() - started < 1000)
})

t.test('over HTTP', async (t) => {
  const host = await startHost(t, { plugins: [templatesPlugin as unknown as Plugin] })
  const get = (path: string) => host.call('GET', path, undefined, { as: null })

  const names = await get('/gitignore/templates')
  t.equal(names.status, 200)
  t.same(names.body, templates.gitignores())
  t.equal(names.headers.get('x-total-count'), null)
  t.same((await get('/gitignore/templates/C++')).body, { name: 'C++', source: templates.gitignore('C++') })

  const licenses = await get('/licenses')
  t.equal(licenses.body.length, 28)
  t.same(licenses.body[0], { key: '0BSD', name: '0BSD', url: `${host.base}/api/v1/licenses/0BSD` })
  const mit = await get('/licenses/MIT')
  t.same(Object.keys(mit.body).sort(), ['body', 'implementation', 'key', 'name', 'url'])
  t.match(mit.body, { key: 'MIT', url: `${host.base}/api/v1/licenses/MIT`, body: bodyOf('MIT') })
  t.match(bodyOf('MIT'), /^MIT License\n/)

  t.same((await get('/label/templates')).body, ['Advanced', 'Default'])
  const labels = await get('/label/templates/Advanced')
  t.equal(labels.body.length, 18)
  t.match(labels.body[7], { name: 'Reviewed/Duplicate', exclusive: true, color: '616161', description: String })

  for (const path of [
    '/gitignore/templates/node',
    '/licenses/mit',
    '/label/templates/default',
    '/licenses/__proto__',
    '/licenses/..%2fMIT',
  ]) {
    const missing = await get(path)
    t.equal(missing.status, 404, path)
    t.match(missing.body, { message: 'not found', url: String })
  }
})
