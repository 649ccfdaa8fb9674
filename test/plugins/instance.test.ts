/** Version, settings and health of a host. */
import t from 'tap'
import instance from '../../plugins/instance/plugin.ts'
import { startHost, type TestHost } from '../support/host.ts'

const open = { as: null }

t.test('what a client finds', async (t) => {
  const h = await startHost(t, {
    config: { 'api.MAX_RESPONSE_ITEMS': '20', 'ui.REACTIONS': '+1,heart', 'attachment.MAX_SIZE': '7' },
  })
  t.same((await h.call('GET', '/version', undefined, open)).body, { version: '1.27.0' })
  t.equal((await h.call('GET', '//swagger.v1.json', undefined, open)).body.info.version, '1.27.0')
  t.same((await h.call('GET', '/settings/ui', undefined, open)).body, {
    default_theme: 'gitea-auto',
    allowed_reactions: ['+1', 'heart'],
    custom_emojis: ['git', 'gitea', 'codeberg', 'gitlab', 'github', 'gogs'],
  })
  t.match((await h.call('GET', '/settings/api', undefined, open)).body, {
    max_response_items: 20,
    default_paging_num: 30,
  })
  const attachment = (await h.call('GET', '/settings/attachment', undefined, open)).body
  t.match(attachment, { max_size: 7, max_files: 5, allowed_types: /^\.avif,.*,\.png,/ })
  t.equal(attachment.enabled, false, 'no plugin takes attachments')

  const settings = async () => (await h.call('GET', '/settings/repository', undefined, open)).body
  t.match(await settings(), {
    stars_disabled: false,
    http_git_disabled: false,
    mirrors_disabled: true,
    lfs_disabled: true,
  })
  await h.rooms.settings.set('repository', 'DISABLE_STARS', 'true')
  await h.rooms.plugins.reconcile()
  t.match(await settings(), { stars_disabled: true, http_git_disabled: false }, 'live')
  await h.rooms.settings.set('repository', 'DISABLE_STARS', null)
  await h.rooms.plugins.reconcile()
  t.equal((await settings()).stars_disabled, false)
})

t.test('a host without other plugins has nothing to offer', async (t) => {
  const h = await startHost(t, { plugins: [instance] as never })
  const settings = (await h.call('GET', '/settings/repository', undefined, open)).body
  t.same(Object.values(settings), Array(6).fill(true))
})

t.test('health', async (t) => {
  const h = await startHost(t, { config: { 'service.REQUIRE_SIGNIN_VIEW': 'true' } })
  const health = async (host: TestHost) => {
    const response = await fetch(`${host.base}/api/healthz`)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const pass = { status: 'pass', time: /^\d{4}-.*Z$/ }
  t.match(await health(h), {
    status: 200,
    body: { status: 'pass', description: 'Switchyard', checks: { 'cache:ping': [pass], 'database:ping': [pass] } },
  })
  t.equal((await h.call('GET', '/version', undefined, open)).status, 403)
  await h.rooms.settings.set('plugins', 'DISABLE_INSTANCE', 'true')
  await h.rooms.plugins.reconcile()
  t.equal((await h.call('GET', '/version')).status, 403)
  t.equal((await health(h)).status, 200, 'whatever is switched off')
  await h.rooms.opened.close()
  t.match(await health(h), { status: 503, body: { status: 'fail' } })
})
