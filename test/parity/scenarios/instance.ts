import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where ours is meant to differ from the reference. */
export const explained: Explained[] = [
  {
    step: 'GET /settings/repository as nobody',
    path: /(lfs|migrations|mirrors|time_tracking)_disabled/,
    ours: true,
    why: 'comes with its plugin',
  },
  { step: 'GET /settings/attachment as nobody', path: 'body.enabled', ours: false, why: 'comes with its plugin' },
  { step: /label\/templates/, path: /\.description$/, why: 'the words are our own' },
  {
    step: 'POST /markdown as alice #2',
    path: 'headers.content-type',
    ours: 'text/html;charset=utf-8',
    why: 'the reference guesses, this is HTML',
  },
  { step: 'GET //api/swagger as nobody', path: 'headers.cache-control', why: 'a page, not an answer of the API' },
]

/** What the instance says about itself, templates, and what is not there. */
export default async ({ call, user, name }: Play) => {
  await user('alice')
  const get = (path: string, options = {}) => call('GET', path, undefined, { as: null, ...options })
  await get('/version', { ignore: ['version'] })
  for (const part of ['ui', 'api', 'repository', 'attachment', 'nothing']) await get(`/settings/${part}`)
  await get('/signing-key.gpg')
  await get('/signing-key.pub')
  await get('/gitignore/templates', { bodiless: true })
  await get('/gitignore/templates/Go', { ignore: ['source'] })
  await get('/gitignore/templates/nothing', { text: true })
  await get('/licenses', { bodiless: true })
  await get('/licenses/MIT', { ignore: ['body', 'implementation'] })
  await get('/licenses/nothing', { text: true })
  await get('/label/templates')
  await get('/label/templates/Default')
  await get('/label/templates/Advanced')
  await get('/label/templates/nothing')
  await get('/')
  await get('')
  await get(`/${name('nothing')}`)
  await get('/version/')
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) await call(method, '/version', undefined, { as: null })
  await call('HEAD', '/version', undefined, { as: null })
  await call('POST', '/markdown', { Text: '# Hi' }, { as: null, text: true })
  await call('POST', '/markup', { Text: '# Hi' }, { as: null, text: true })
  await call('POST', '/markdown/raw', '# Hi', { as: null, text: true, headers: { 'content-type': 'text/plain' } })
  const as = 'alice'
  await call('POST', '/markdown', { Text: '# Hi *there*\n\n- [x] done\n- [ ] open' }, { as })
  await call(
    'POST',
    '/markdown',
    { Text: '<script>x</script><b onclick=x>b</b> https://example.com', Mode: 'gfm' },
    { as },
  )
  await call('POST', '/markdown', {}, { as })
  await call('POST', '/markdown', { Text: 5 }, { as })
  await call('POST', '/markdown/raw', '**raw**', { as, headers: { 'content-type': 'text/plain' } })
  await call('POST', '/markup', { Text: 'x', Mode: 'nonsense' }, { as })
  await call('POST', '/markup', { Text: 'x', Mode: 'file', FilePath: 'x.unknown' }, { as })
  await call('POST', '/markup', { Text: '*x*', Mode: 'file', FilePath: 'x.md' }, { as })
  await get('//api/swagger', { bodiless: true, ignore: [] })
  await get('/swagger', { bodiless: true })
}
