/**
 * The operator's settings: app.ini and environment read into one checked object, the folders of the host and its
 * secrets. Owners declare their sections as TypeBox objects; whatever nobody declared is a mistake with a place.
 */
export * from './config.ts'
export { Duration, duration, isDuration } from './durations.ts'
export { exampleConfig } from './example.ts'
export { ConfigErrors, describeSource, type Entry, type Mistake, type Source } from './mistakes.ts'
export { nearest, suggestion } from './nearest.ts'
export type { Paths } from './paths.ts'
export { coerce, type SectionSchemas, type SwitchKey } from './schema.ts'
export { createSecrets, openSecrets, type Secrets } from './secrets.ts'
export { coreSections } from './sections.ts'
export { type ConfigInput, peek, readSources, type Sources } from './sources.ts'
