import { answer, Empty, list, type Route, record, route, Type } from '#core/http'
import { gitDataConfig } from '../config.ts'
import type { GitDataUse } from '../needs.ts'
import { tagPrefix, tagRecord } from '../presenters.ts'
import { listRefs, type RefRow } from '../queries.ts'
import { Tag } from '../schemas.ts'
import type { ChangeBy } from '../service/ref-changes.ts'
import { createTag, deleteTag, findTag } from '../service/tags.ts'
import { about, InRepo, inRepo, linksOf, reading, writing } from './in-repository.ts'

const InTag = Type.Object({
  ...inRepo,
  tag: Type.String({ description: 'Name of the tag; slashes may stand as they are.' }),
})

const CreateTagOption = record(
  'CreateTagOption',
  {
    tag_name: Type.String({ fieldName: 'TagName', description: 'Name of the new tag.' }),
    message: Type.Optional(Type.String({ description: 'With a message the tag becomes an object of its own.' })),
    target: Type.Optional(Type.String({ description: 'Branch, tag or commit; the default branch unless given.' })),
  },
  { description: 'A tag to create.' },
)

/** Tags: listed from PostgreSQL, changed in git. */
export function tagRoutes(use: GitDataUse): Route[] {
  type InCall = { actor: ChangeBy['actor']; base: string; repo: ChangeBy['access'] }
  const by = (call: InCall): ChangeBy => ({ actor: call.actor, access: call.repo })
  const show = (call: InCall, rows: readonly RefRow[]) => {
    const downloads = !use.config.get('repository', gitDataConfig.repository).DISABLE_DOWNLOAD_SOURCE_ARCHIVES
    return rows.map((row) => tagRecord(linksOf(use, call), row, downloads))
  }

  return [
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/tags',
      operationId: 'repoListTags',
      summary: 'Lists the tags of a repository, the newest first.',
      access: reading,
      params: InRepo,
      paging: 'total',
      answers: { 200: Type.Array(Tag) },
      async handle(call) {
        const { rows, total } = await listRefs(use.db, call.repo.repo.id, { prefix: tagPrefix }, call.page)
        return list(show(call, rows), total)
      },
    }),
    route({
      ...about,
      method: 'POST',
      path: '/repos/{owner}/{repo}/tags',
      operationId: 'repoCreateTag',
      summary: 'Creates a tag.',
      access: writing,
      params: InRepo,
      body: CreateTagOption,
      answers: { 201: Tag },
      refusals: [403, 404, 409],
      async handle(call) {
        const { tag_name: name, message, target } = call.body
        return answer(201, show(call, [await createTag(use, by(call), { name, message, target })])[0])
      },
    }),
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/tags/{tag+}',
      operationId: 'repoGetTag',
      summary: 'Shows a tag.',
      access: reading,
      params: InTag,
      answers: { 200: Tag },
      handle: async (call) => show(call, [await findTag(use, by(call), call.params.tag)])[0],
    }),
    route({
      ...about,
      method: 'DELETE',
      path: '/repos/{owner}/{repo}/tags/{tag+}',
      operationId: 'repoDeleteTag',
      summary: 'Deletes a tag. One that belongs to a release stays.',
      access: writing,
      params: InTag,
      answers: { 204: Empty },
      refusals: [403, 404, 409, 422],
      handle: (call) => deleteTag(use, by(call), call.params.tag),
    }),
  ]
}
