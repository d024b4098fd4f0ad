/** How the observer of health, and what paces reconciles, call a resource. */
import type { Resource } from '../../api.ts'

/** `KIND NAMESPACE/NAME`. */
export function observedName({
  kind,
  metadata,
}: {
  readonly kind: Resource['kind']
  readonly metadata: Pick<Resource['metadata'], 'namespace' | 'name'>
}): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`
}

/** What `observedName` put together. */
export function parseObservedName(name: string): {
  readonly kind: Resource['kind']
  /** `NAMESPACE/NAME`. */
  readonly key: string
} {
  const [kind = '', key = ''] = name.split(' ')
  return { kind: kind as Resource['kind'], key }
}
