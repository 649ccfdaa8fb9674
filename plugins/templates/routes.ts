import { coreSections } from '#core/config'
import { anyone, notFound, type Route, route, Type } from '#core/http'
import type { Config } from '#core/plugin'
import type { Templates } from './api.ts'
import { GitignoreTemplateInfo, LabelTemplate, LicensesTemplateListEntry, LicenseTemplateInfo } from './schemas.ts'

type Use = { readonly config: Config; readonly templates: Templates | undefined }

const common = { method: 'GET', tag: 'miscellaneous', access: anyone, scope: 'none' } as const
const one = {
  ...common,
  params: Type.Object({ name: Type.String({ description: 'Its name, as the list has it.' }) }),
  refusals: [404],
} as const

const found = <T>(thing: T | undefined): T => {
  if (thing === undefined) throw notFound()
  return thing
}

export function templateRoutes(use: Use): readonly Route[] {
  const urlOf = (key: string) => {
    const { ROOT_URL } = use.config.get('server', coreSections.server)
    return `${ROOT_URL.replace(/\/+$/, '')}/api/v1/licenses/${key}`
  }
  return [
    route({
      ...common,
      path: '/gitignore/templates',
      operationId: 'listGitignoresTemplates',
      summary: 'List the names of .gitignore templates',
      answers: { 200: Type.Array(Type.String()) },
      handle: () => found(use.templates).gitignores(),
    }),
    route({
      ...one,
      path: '/gitignore/templates/{name}',
      operationId: 'getGitignoreTemplateInfo',
      summary: 'Get a .gitignore template',
      answers: { 200: GitignoreTemplateInfo },
      handle: ({ params: { name } }) => ({ name, source: found(use.templates?.gitignore(name)) }),
    }),
    route({
      ...common,
      path: '/licenses',
      operationId: 'listLicenseTemplates',
      summary: 'List the licences that a repository can start with',
      answers: { 200: Type.Array(LicensesTemplateListEntry) },
      handle: () =>
        found(use.templates)
          .licenses()
          .map(({ key, name }) => ({ key, name, url: urlOf(key) })),
    }),
    route({
      ...one,
      path: '/licenses/{name}',
      operationId: 'getLicenseTemplateInfo',
      summary: 'Get a licence with its text',
      answers: { 200: LicenseTemplateInfo },
      handle: ({ params: { name } }) => ({ ...found(use.templates?.license(name)), url: urlOf(name) }),
    }),
    route({
      ...common,
      path: '/label/templates',
      operationId: 'listLabelTemplates',
      summary: 'List the names of sets of labels',
      answers: { 200: Type.Array(Type.String()) },
      handle: () => found(use.templates).labelSets(),
    }),
    route({
      ...one,
      path: '/label/templates/{name}',
      operationId: 'getLabelTemplateInfo',
      summary: 'Get the labels of a set',
      answers: { 200: Type.Array(LabelTemplate) },
      handle: ({ params: { name } }) => found(use.templates?.labelSet(name)),
    }),
  ]
}
