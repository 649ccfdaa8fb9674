import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where the contract wants another answer than the reference’s. */
export const explained: Explained[] = [
  {
    step: 'POST /user/avatar as alice #3',
    path: 'status',
    ours: 422,
    why: 'contract 01: no picture is a reference bug',
  },
]

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A user's own settings and picture. */
export default async ({ call, user }: Play) => {
  const alice = await user('alice')
  const as = 'alice'
  await call('GET', '/user/settings', undefined, { as: null, text: true })
  await call('GET', '/user/settings', undefined, { as })
  await call(
    'PATCH',
    '/user/settings',
    { full_name: 'Alice A', website: 'https://example.com', location: 'Bern', description: '<b>me</b> & you' },
    { as },
  )
  await call(
    'PATCH',
    '/user/settings',
    { theme: 'dark', language: 'de-DE', diff_view_style: 'split', hide_email: true, hide_activity: true },
    { as },
  )
  await call('GET', '/user/settings', undefined, { as })
  await call('PATCH', '/user/settings', {}, { as })
  await call('PATCH', '/user/settings', { full_name: null, location: '' }, { as })
  await call('PATCH', '/user/settings', { FULL_NAME: 'Other Case', unknown_key: 1 }, { as })
  await call('PATCH', '/user/settings', { website: 'no url' }, { as, text: true })
  await call('PATCH', '/user/settings', { location: 'x'.repeat(51) }, { as, text: true })
  await call('PATCH', '/user/settings', { full_name: 'x'.repeat(101) }, { as, text: true })
  await call('PATCH', '/user/settings', { description: 'x'.repeat(256) }, { as, text: true })
  await call('PATCH', '/user/settings', { description: 'é'.repeat(255) }, { as })
  await call('PATCH', '/user/settings', { hide_email: 'yes' }, { as })
  await call('PATCH', '/user/settings', [], { as })
  await call('PATCH', '/user/settings', 'location=Basel&hide_email=false', {
    as,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  await call('PATCH', '/user/settings', '{"location":"Zug"}', { as, headers: { 'content-type': 'text/plain' } })
  await call('GET', '/user', undefined, { as })
  await call('GET', `/users/${alice}`, undefined, { as: null })
  await call('POST', '/user/avatar', { image: png }, { as: null, text: true })
  await call('POST', '/user/avatar', { image: png }, { as })
  await call('POST', '/user/avatar', { image: '%%%' }, { as })
  await call('POST', '/user/avatar', { image: Buffer.from('no picture').toString('base64') }, { as })
  await call('POST', '/user/avatar', {}, { as, text: true })
  const { body } = await call('GET', '/user', undefined, { as, skip: true })
  await call('GET', `/${new URL(body.avatar_url).pathname}`, undefined, { as: null, bodiless: true })
  await call('DELETE', '/user/avatar', undefined, { as })
  await call('DELETE', '/user/avatar', undefined, { as })
  await call('GET', '/user', undefined, { as })
}
