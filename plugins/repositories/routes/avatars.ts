import {
  answer,
  anyone,
  Empty,
  notFound,
  type RawRoute,
  RepositoryPath,
  type Route,
  rawRoute,
  repository,
  route,
} from '#core/http'
import type { ReposTables } from '#core/repos'
import { createPictures, readPicture } from '#core/storage'
import type { RepositoriesUse } from '../needs.ts'
import { UpdateRepoAvatarOption } from '../schemas.ts'

/** Setting and removing the picture of a repository. */
export function avatarRoutes(use: RepositoriesUse): Route[] {
  const change = (repositoryId: number, bytes: Buffer | undefined) =>
    createPictures(use.storage, 'repo-avatars').replace(bytes, (avatar) =>
      use.db.tx(async (tx) => {
        const repositories = tx.sql<ReposTables>()
        const now = repositories.selectFrom('repository').select('avatar').where('id', '=', repositoryId)
        const before = await now.forUpdate().executeTakeFirst()
        if (!before) throw notFound()
        await repositories.updateTable('repository').set({ avatar }).where('id', '=', repositoryId).execute()
        return before.avatar
      }),
    )
  return [
    route({
      method: 'POST',
      path: '/repos/{owner}/{repo}/avatar',
      operationId: 'repoUpdateAvatar',
      tag: 'repository',
      summary: 'Gives a repository a picture.',
      access: repository.admin(),
      scope: ['repository'],
      params: RepositoryPath,
      body: UpdateRepoAvatarOption,
      bodyLimit: 12_582_912,
      answers: { 204: Empty },
      refusals: [400, 413],
      handle: ({ repo, body }) => change(repo.repo.id, readPicture(body.image, use.config)),
    }),
    route({
      method: 'DELETE',
      path: '/repos/{owner}/{repo}/avatar',
      operationId: 'repoDeleteAvatar',
      tag: 'repository',
      summary: 'Removes the picture of a repository.',
      access: repository.admin(),
      scope: ['repository'],
      params: RepositoryPath,
      answers: { 204: Empty },
      handle: ({ repo }) => change(repo.repo.id, undefined),
    }),
  ]
}

/** Serving the pictures of repositories. */
export function pictureRoutes(use: RepositoriesUse): RawRoute[] {
  return [
    rawRoute({
      method: 'GET',
      path: '/repo-avatars/{name}',
      access: anyone,
      scope: 'none',
      handle: async ({ params }) => {
        const found = await createPictures(use.storage, 'repo-avatars').get(params.name ?? '')
        if (!found) throw notFound()
        return answer(200, found.bytes, {
          'content-type': found.type,
          'cache-control': 'public, max-age=21600',
          'last-modified': found.modified.toUTCString(),
        })
      },
    }),
  ]
}
