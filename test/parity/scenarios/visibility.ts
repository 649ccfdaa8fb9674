import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where ours is meant to differ from the reference. */
export const explained: Explained[] = [
  {
    step: /receive-pack as stranger/,
    path: 'status',
    ours: 403,
    why: 'what is hidden and what is not there look the same',
  },
]

const people = ['owner', 'writer', 'reader', 'stranger', 'admin', null] as const

/** Who may read and write what, as statuses: public and private repositories, public, limited and private owners. */
export default async ({ call, user }: Play) => {
  const writer = await user('writer')
  const reader = await user('reader')
  await user('stranger')
  for (const visibility of ['public', 'limited', 'private']) {
    const owner = await user(visibility, { visibility })
    for (const hidden of [false, true]) {
      const label = hidden ? 'hidden' : 'open'
      await call(
        'POST',
        '/user/repos',
        { name: label, private: hidden, auto_init: true },
        { as: visibility, skip: true },
      )
      const repo = `/repos/${owner}/${label}`
      const invite = (who: string, permission: string) =>
        call('PUT', `${repo}/collaborators/${who}`, { permission }, { as: visibility, skip: true })
      await invite(writer, 'write')
      await invite(reader, 'read')
      for (const person of people) {
        const as = person === 'owner' ? visibility : person
        const probe = (method: string, path: string, body?: unknown) =>
          call(method, repo + path, body, { as, text: true, bodiless: method === 'GET' })
        await probe('GET', '')
        await probe('GET', '/contents')
        await probe('GET', '/collaborators')
        await probe('GET', '/topics')
        await probe('PUT', '/topics', { topics: ['-bad'] })
        await probe('POST', '/branches', {})
        await probe('POST', '/tags', {})
        await probe('POST', '/contents/x.txt', { content: '%' })
        await probe('PATCH', '', { name: 'a b' })
        await call('PUT', `/user/starred/${owner}/${label}`, undefined, { as })
        await call('GET', `//${owner}/${label}.git/info/refs?service=git-upload-pack`, undefined, {
          as,
          bodiless: true,
        })
        await call('GET', `//${owner}/${label}.git/info/refs?service=git-receive-pack`, undefined, {
          as,
          bodiless: true,
        })
      }
    }
  }
}
