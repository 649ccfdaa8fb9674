/** Old histories carry these; they harm nobody. */
const harmless = [
  'zeroPaddedFilemode',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'missingNameBeforeEmail',
  'badTimezone',
]

function tolerate(section: string) {
  return Object.fromEntries(harmless.map((fault) => [`${section}.${fault}`, 'ignore']))
}

/** Settings that hold for every git that we start, whatever a repository's own config says. */
const settings: Readonly<Record<string, string>> = {
  'safe.directory': '*',
  'core.hooksPath': '/dev/null',
  'core.fsync': 'committed,reference',
  'core.protectNTFS': 'true',
  'core.protectHFS': 'true',
  'core.quotePath': 'false',
  'core.attributesFile': '/dev/null',
  'core.excludesFile': '/dev/null',
  // Another process may hold a ref for a moment; waiting beats refusing.
  'core.filesRefLockTimeout': '5000',
  'core.packedRefsTimeout': '5000',
  'core.logAllRefUpdates': 'false',
  'core.commitGraph': 'true',
  // A ref name and an object id may look alike; nobody reads the warning.
  'core.warnAmbiguousRefs': 'false',
  'advice.detachedHead': 'false',
  'init.defaultBranch': 'main',
  'diff.algorithm': 'histogram',
  // Maintenance is ours to schedule.
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'receive.autogc': 'false',
  // Pushes stay packs: one fsync instead of one per object, and a clone sends them as they are.
  'receive.unpackLimit': '1',
  'fetch.unpackLimit': '1',
  'transfer.fsckObjects': 'false',
  'receive.fsckObjects': 'true',
  ...tolerate('receive.fsck'),
  ...tolerate('fsck'),
  'receive.advertisePushOptions': 'true',
  'receive.denyCurrentBranch': 'ignore',
  'uploadpack.allowFilter': 'true',
  'uploadpack.allowAnySHA1InWant': 'true',
  // Our own refs (see receive.ts) are nobody else's business.
  'uploadpack.hideRefs': 'refs/switchyard',
  'protocol.version': '2',
  'pack.writeBitmaps': 'true',
  // Not text that an archive or a diff of a hostile repository should start.
  'tar.tar.gz.command': 'git archive gzip',
  'core.fsmonitor': 'false',
  'core.sshCommand': '/bin/false',
  'core.gitProxy': '/bin/false',
  'core.askPass': '/bin/false',
  'credential.helper': '',
  'commit.gpgSign': 'false',
  'tag.gpgSign': 'false',
}

function settingsAsVariables(overrides: Readonly<Record<string, string>>) {
  const variables: Record<string, string> = {}
  const entries = Object.entries({ ...settings, ...overrides })
  for (const [index, [key, value]] of entries.entries()) {
    variables[`GIT_CONFIG_KEY_${index}`] = key
    variables[`GIT_CONFIG_VALUE_${index}`] = value
  }
  variables.GIT_CONFIG_COUNT = String(entries.length)
  return variables
}

const common = {
  PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
  // No home: nothing there can be read, and nothing can be written there.
  HOME: '/dev/null',
  XDG_CONFIG_HOME: '/dev/null',
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  GIT_PAGER: 'cat',
  GIT_EDITOR: '/bin/false',
  // A pushed refs/replace must not change what anybody reads.
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  // A path is a path, whatever stars and colons it has.
  GIT_LITERAL_PATHSPECS: '1',
  // No transport at all, unless a caller opens one.
  GIT_ALLOW_PROTOCOL: 'none',
}

const plain = { ...common, ...settingsAsVariables({}) }

/**
 * The whole environment of a git process: nothing is inherited from ours.
 * `config` adds settings for this one process, `variables` further variables.
 */
export function gitEnvironment(
  variables: Readonly<Record<string, string>> = {},
  config?: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  return config ? { ...common, ...settingsAsVariables(config), ...variables } : { ...plain, ...variables }
}
