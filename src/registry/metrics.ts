/** How well the registry chain is followed, counted. */
import { Counter, type Registry } from 'prom-client'

export interface RegistryMetrics {
  readonly lists: Counter<'result'>
  readonly connections: Counter<'result'>
  readonly events: Counter<'outcome'>
  readonly missed: Counter
}

/** Declares the metrics in `registry`. */
export function createRegistryMetrics(registry: Registry): RegistryMetrics {
  const registers = [registry]
  return {
    lists: new Counter({
      name: 'viewmesh_registry_lists_total',
      help: 'Times the Views of the registry chain were listed, by result: whole or failed.',
      labelNames: ['result'],
      registers,
    }),
    connections: new Counter({
      name: 'viewmesh_registry_connections_total',
      help: 'Subscriptions to the registry chain, by result: opened, failed, or lost after they were open.',
      labelNames: ['result'],
      registers,
    }),
    events: new Counter({
      name: 'viewmesh_registry_events_total',
      help: 'Registered Views that events announced, by outcome: read, refused, or dropped where too many came at once and a list followed.',
      labelNames: ['outcome'],
      registers,
    }),
    missed: new Counter({
      name: 'viewmesh_registry_missed_views_total',
      help: 'Views that a list found though a subscription should have announced them; it is opened again then.',
      registers,
    }),
  }
}
