/** How many resources are in which state, as a gauge that is counted when it is asked for. */
import { Gauge, type Registry } from 'prom-client'
import { type ConditionDefinition, conditions } from '../../api/conditions.ts'
import type { Condition } from '../../api/status.ts'
import type { Resource } from '../../api.ts'

/** Resources of a kind, as an informer has them. */
interface ListedResources {
  list(): Iterable<{ readonly value: Resource }>
}

const definitions: Readonly<Record<string, ConditionDefinition>> = conditions

/**
 * Declares `viewmesh_operator_resources`. Only the conditions and reasons of the table are counted, so that
 * a user who may write a status cannot create labels.
 */
export function declareResourceCounts(
  registry: Registry,
  informers: readonly ListedResources[],
): void {
  new Gauge({
    name: 'viewmesh_operator_resources',
    help: 'Generators, Hosts and Views whose status has a condition with this reason, by kind, condition and reason.',
    labelNames: ['kind', 'condition', 'reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const informer of informers) {
        for (const { value } of informer.list()) {
          for (const { type, reason } of knownConditions(value)) {
            this.inc({ kind: value.kind, condition: type, reason })
          }
        }
      }
    },
  })
}

function knownConditions({ status }: Resource): readonly Condition[] {
  return (status?.conditions ?? []).filter(({ type, reason }) =>
    Object.hasOwn(definitions[type]?.reasons ?? {}, reason),
  )
}
