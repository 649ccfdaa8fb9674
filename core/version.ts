import { readFileSync } from 'node:fs'

/**
 * Version of the REST API that the host speaks. Clients compare it as semver and use what that version offers, so it
 * is not the program's own.
 */
export const apiVersion = '1.27.0'

/** Version of the program. */
export const version: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
