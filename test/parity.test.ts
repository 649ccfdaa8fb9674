/**
 * Plays every scenario of test/parity on a host of ours and compares the answers with those that were recorded from
 * the reference. A wanted difference is listed in the scenario with its reason; see test/parity/README.md.
 */
import t from 'tap'
import { type Difference, judge } from './parity/compare.ts'
import { fits, merge } from './parity/recording.ts'
import { loadScenario, replay, scenarioNames } from './parity/scenarios.ts'
import { startHost } from './support/host.ts'

t.test('recordings have holes where two plays differ, and holes hold only their kind', async (t) => {
  const step = (what: string, body: Record<string, string | number>) => ({ what, status: 200, headers: {}, body })
  const sha = 'a'.repeat(40)
  const [one] = merge(
    [step('GET /x', { sha, link: `/commits/${sha}`, text: 'uid: 5', kept: 'same 5', count: 3 })],
    [
      step('GET /x', {
        sha: 'b'.repeat(40),
        link: `/commits/${'b'.repeat(40)}`,
        text: 'uid: 17',
        kept: 'same 5',
        count: 4,
      }),
    ],
  )
  t.same(one?.body, { sha: '{sha}', link: '/commits/{sha}', text: 'uid: {n}', kept: 'same 5', count: '{number}' })
  t.ok(fits('/commits/0123456789012345678901234567890123456789', '/commits/{sha}'))
  t.notOk(fits('/commits/main', '/commits/{sha}'))
  t.notOk(fits('/xcommits/0123456789012345678901234567890123456789', '/commits/{sha}'))
  t.ok(fits(7, '{number}'))
  t.notOk(fits('7', '{number}'))
  t.throws(() => merge([step('GET /x', { a: 1 })], [step('GET /x', { b: 1 })]), /body/, 'other keys are no chance')
})

t.test('an explanation must name a difference that occurs', async (t) => {
  const found: Difference[] = [{ step: 'GET /x as bob', path: 'status', ours: 422, reference: 500 }]
  const why = 'a reference bug'
  t.same(judge(found, [{ step: 'GET /x as bob', path: 'status', ours: 422, why }]), [])
  t.match(judge(found, []), [/GET \/x as bob: status: 422 \| reference 500/])
  t.match(judge(found, [{ step: 'GET /x as bob', path: 'status', ours: 404, why }]), [/422/, /does not occur/])
  t.match(judge([], [{ step: /./, path: 'status', why }]), [/does not occur/])
})

t.test('our answers are the reference’s', async (t) => {
  // The reference was recorded with these settings.
  const host = await startHost(t, { config: { 'security.MIN_PASSWORD_LENGTH': '6', 'server.DOMAIN': 'localhost' } })
  const server = { base: host.base, admin: { login: 'admin', password: host.passwordOf('admin') } }
  for (const name of scenarioNames()) {
    await t.test(name, async (t) => {
      const { steps, complaints } = await replay(server, await loadScenario(name))
      for (const line of complaints) t.fail(line, { at: null, stack: '' })
      t.equal(complaints.length, 0, `${steps} steps without an unexplained difference`, { at: null, stack: '' })
    })
  }
})
