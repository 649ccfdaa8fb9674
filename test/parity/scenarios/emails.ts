import type { Play } from '../play.ts'

/** The addresses of a user, and the administrator's list of all. */
export default async ({ call, user, name, suffix }: Play) => {
  await user('alice')
  const bob = await user('bob')
  const [second, third] = [`${name('second')}@example.com`, `${name('third')}@example.org`]
  await call('GET', '/user/emails', undefined, { as: null, text: true })
  await call('GET', '/user/emails', undefined, { as: 'alice' })
  await call('POST', '/user/emails', { emails: [second, third] }, { as: 'alice' })
  await call('GET', '/user/emails', undefined, { as: 'alice' })
  await call('POST', '/user/emails', { emails: [second] }, { as: 'alice', text: true })
  await call('POST', '/user/emails', { emails: [second.toUpperCase()] }, { as: 'bob' })
  await call('POST', '/user/emails', { emails: [`${bob}@example.com`] }, { as: 'alice', text: true })
  await call('POST', '/user/emails', { emails: [] }, { as: 'alice', text: true })
  await call('POST', '/user/emails', {}, { as: 'alice' })
  await call('POST', '/user/emails', { emails: ['no address'] }, { as: 'alice' })
  await call('POST', '/user/emails', { emails: [`-${name('x')}@example.com`] }, { as: 'alice' })
  await call('POST', '/user/emails', { emails: 'one' }, { as: 'alice' })
  await call('POST', '/user/emails', '{', { as: 'alice', headers: { 'content-type': 'application/json' } })
  await call('POST', '/user/emails', '{}', { as: 'alice', headers: { 'content-type': 'text/plain' } })
  await call('GET', '/user/emails', undefined, { as: 'alice' })
  for (const path of ['/admin/emails', `/admin/emails/search?q=${suffix}`]) {
    await call('GET', path, undefined, { as: 'alice', text: true })
    await call('GET', path, undefined, { as: null, text: true })
  }
  await call('GET', `/admin/emails/search?q=${suffix}`)
  await call('GET', `/admin/emails/search?q=${suffix}&limit=2`)
  await call('GET', `/admin/emails/search?q=${name('nobody')}`)
  await call('DELETE', '/user/emails', { emails: [`${name('unknown')}@example.com`] }, { as: 'alice', text: true })
  await call('DELETE', '/user/emails', { emails: [second] }, { as: 'bob' })
  await call('DELETE', '/user/emails', { emails: [] }, { as: 'alice' })
  await call('DELETE', '/user/emails', { emails: [second] }, { as: 'alice' })
  await call('GET', '/user/emails', undefined, { as: 'alice' })
  await call('POST', '/user/emails', { emails: [second] }, { as: 'bob' })
}
