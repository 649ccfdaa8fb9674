import { answer, anyone, type RawRoute, rawRoute } from '#core/http'
import { instanceConfig } from './config.ts'
import type { InstanceUse } from './needs.ts'
import { healthOf } from './service.ts'

/** For monitors and load balancers: answers whatever is switched off, and without credentials. */
export function healthRoutes({ config, db }: InstanceUse): RawRoute[] {
  return [
    rawRoute({
      method: 'GET',
      access: anyone,
      scope: 'none',
      path: '/api/healthz',
      governed: false,
      open: true,
      handle: async () => {
        const health = await healthOf(db, config.get('', instanceConfig['']).APP_NAME)
        const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }
        return answer(health.status === 'pass' ? 200 : 503, `${JSON.stringify(health, null, 2)}\n`, headers)
      },
    }),
  ]
}
