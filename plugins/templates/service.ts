import type { Templates } from './api.ts'
import { loadGitignores } from './gitignores.ts'
import { labelSets } from './labels.ts'
import { createLicenseDetector } from './license-detection.ts'
import { loadLicenses } from './licenses.ts'

/** Reads the templates once; afterwards only the detection of licences reads files. */
export async function createTemplates(): Promise<Templates> {
  const [gitignores, licenses] = await Promise.all([loadGitignores(), loadLicenses()])
  return {
    gitignores: () => [...gitignores.keys()],
    gitignore: (name) => gitignores.get(name),
    licenses: () => [...licenses.values()],
    license: (key) => licenses.get(key),
    labelSets: () => [...labelSets.keys()],
    labelSet: (name) => labelSets.get(name),
    readmes: () => ['Default'],
    readme: (name, about) => (name === 'Default' ? `# ${about.name}\n\n${about.description}` : undefined),
    detectLicense: createLicenseDetector(),
  }
}
