/** Where two pod templates differ, as texts for people; values are left out, since they may be secrets. */
import type { V1PodTemplateSpec } from '@kubernetes/client-node'
import { driftOf } from '../drift/drift.ts'

/** Paths of fields, such as `spec.containers[host].image`; what came, went or changed alike. */
export function templateChanges(before: V1PodTemplateSpec, after: V1PodTemplateSpec): string[] {
  const changed = driftOf(asSet(after), asSet(before))
  const gone = driftOf(asSet(before), asSet(after))
  const paths = new Set([...changed, ...gone].map(({ path }) => path))
  return [...paths].map((path) => path.replace('spec.template.', ''))
}

/** What is empty in a template means the same as what is left out. */
function asSet(template: V1PodTemplateSpec): object {
  return { spec: { template } }
}
