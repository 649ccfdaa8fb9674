import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Texts by SPDX id, one JSON file each. */
export const licenseFolder = join(
  createRequire(import.meta.url).resolve('spdx-license-list/package.json'),
  '../licenses',
)

/** The licences that are offered, by SPDX id, in the order in which they are listed. */
export const licenseIds = [
  ...['0BSD', 'AGPL-3.0', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BSD-3-Clause-Clear', 'BSL-1.0', 'CC-BY-4.0'],
  ...['CC-BY-SA-4.0', 'CC0-1.0', 'EPL-1.0', 'EPL-2.0', 'EUPL-1.2', 'GPL-2.0', 'GPL-3.0', 'ISC', 'LGPL-2.1', 'LGPL-3.0'],
  ...['MIT', 'MIT-0', 'MPL-2.0', 'MulanPSL-2.0', 'OFL-1.1', 'OSL-3.0', 'UPL-1.0', 'Unlicense', 'WTFPL', 'Zlib'],
] as const

export type License = {
  /** The SPDX id; it also is the name. */
  readonly key: string
  readonly name: string
  /** What to do with the text. */
  readonly implementation: string
  readonly body: string
}

const implementation =
  'Put this text into a file named LICENSE or LICENSE.txt at the root of the repository, and fill in what it leaves open.'

/** The text of a licence by SPDX id. */
export async function licenseText(id: string): Promise<string> {
  const { licenseText } = JSON.parse(await readFile(join(licenseFolder, `${id}.json`), 'utf8')) as {
    licenseText: string
  }
  return licenseText
}

/** The licences that are offered, with their texts. */
export async function loadLicenses(): Promise<ReadonlyMap<string, License>> {
  const licenses = licenseIds.map(async (id): Promise<[string, License]> => {
    const body = (await licenseText(id)).trimEnd()
    return [id, { key: id, name: id, implementation, body: `${body}\n` }]
  })
  return new Map(await Promise.all(licenses))
}
