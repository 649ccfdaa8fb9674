import { service } from '#core/plugin'
import type { LabelTemplate } from './labels.ts'
import type { License } from './licenses.ts'

export { detectLanguages, type FileSample, languageOf } from './languages.ts'
export type { LabelTemplate, License }

/** What a repository can start with, and what its files tell of it. */
export type Templates = {
  /** Names of .gitignore templates, sorted. Names are case-sensitive, here and below. */
  gitignores(): readonly string[]
  gitignore(name: string): string | undefined
  /** The licences that are offered. */
  licenses(): readonly License[]
  license(key: string): License | undefined
  /** Names of sets of labels. */
  labelSets(): readonly string[]
  labelSet(name: string): readonly LabelTemplate[] | undefined
  readmes(): readonly string[]
  /** A README for a repository of that name, in Markdown. */
  readme(name: string, about: { readonly name: string; readonly description: string }): string | undefined
  /** SPDX ids of the licences that a text contains, sorted. Takes its time without holding up the process. */
  detectLicense(text: string): Promise<string[]>
}

export const Templates = service<Templates>('templates.templates')
