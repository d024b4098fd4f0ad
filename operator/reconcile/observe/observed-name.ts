/** How the observer of health, and what paces reconciles, call a resource. */
import type { Workload } from '../../api.ts'

/** `KIND NAMESPACE/NAME`. */
export function observedName({
  kind,
  metadata,
}: {
  readonly kind: Workload['kind']
  readonly metadata: Pick<Workload['metadata'], 'namespace' | 'name'>
}): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`
}

/** What `observedName` put together. */
export function parseObservedName(name: string): {
  readonly kind: Workload['kind']
  /** `NAMESPACE/NAME`. */
  readonly key: string
} {
  const [kind = '', key = ''] = name.split(' ', 2)
  return { kind: kind as Workload['kind'], key }
}
