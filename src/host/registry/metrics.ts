/** What a Host makes of the registered Views, counted, beside how it follows their chain. */
import { Counter, type Registry } from 'prom-client'
import type { RegistryState } from '../../registry/follow.ts'
import { declareScrapedGauges } from '../../scraped-gauge.ts'
import type { RegistryHealthReport } from '../../service/contract.ts'

interface HostRegistryGauges {
  /** Null without a registry chain. */
  readonly following: () => RegistryState | null
  readonly report: () => RegistryHealthReport | null
}

/** Declares them in `registry`; returns what counts fetched Views. */
export function createHostRegistryMetrics(
  registry: Registry,
  { following, report }: HostRegistryGauges,
): (outcome: 'served' | 'foreign' | 'refused') => void {
  const openedMs = Date.now()
  declareScrapedGauges(registry, 'viewmesh_registry_', [
    [
      'list_age_seconds',
      'Seconds since the Views of the registry chain were listed, or since the start; nothing without REGISTRY_LCD_URL.',
      () => {
        const state = following()
        return state === null ? null : (Date.now() - (state.listedAtMs ?? openedMs)) / 1_000
      },
    ],
    [
      'subscribed',
      'Whether the registry chain tells of new Views: 1 or 0; nothing without REGISTRY_RPC_URL.',
      () => {
        const stream = following()?.stream ?? 'off'
        return stream === 'off' ? null : Number(stream === 'live')
      },
    ],
    ['served_views', 'Registered Views that are served.', () => report()?.served ?? null],
    [
      'over_limit_views',
      'Registered Views that have no place.',
      () => report()?.over_limit ?? null,
    ],
  ])
  const counter = new Counter({
    name: 'viewmesh_registry_fetched_views_total',
    help: 'Registered Views that were fetched and checked, by what became of them.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  return (outcome) => counter.inc({ outcome })
}
