import { type Route, route, Type } from '#core/http'
import type { GitDataUse } from '../needs.ts'
import { languagesOf } from '../queries.ts'
import { about, InRepo, reading } from './in-repository.ts'

/** What the files of the default branch tell; counted after each push. */
export function statisticsRoutes(use: GitDataUse): Route[] {
  return [
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/languages',
      operationId: 'repoGetLanguages',
      summary: 'How many bytes of each language a repository has, most first.',
      access: reading,
      params: InRepo,
      answers: { 200: Type.Record(Type.String(), Type.Integer()) },
      async handle({ repo }) {
        const rows = await languagesOf(use.db, repo.repo.id)
        return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]))
      },
    }),
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/licenses',
      operationId: 'repoGetLicenses',
      summary: 'The licences of a repository by their SPDX ids.',
      access: reading,
      params: InRepo,
      answers: { 200: Type.Array(Type.String()) },
      handle: ({ repo }) => repo.repo.licenses,
    }),
  ]
}
