/** What `/health` of a Host with a registered View may say of Views. */
import type { HealthState } from '../../../../src/service/health/health-report.ts'

export const views: HealthState['views'] = [
  {
    id: `0x${'77'.repeat(32)}`,
    address: `0x${'77'.repeat(20)}`,
    name: 'Transfers',
    state: 'backfilling',
    blocks_left: 240,
    blocks_per_second: 120,
    seconds_left: 2,
  },
]

export const registry: HealthState['registry'] = {
  state: 'live',
  last_listed: '2026-01-02T03:04:05.000Z',
  listed: 9,
  ...{ served: 5, over_limit: 1, denied: 1, refused: 1, foreign: 1 },
}
