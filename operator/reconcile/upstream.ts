/**
 * The execution node of a Generator: which pods it is, so that the Generator can run beside them. What
 * was found once is kept, since another answer replaces the Generator's pod.
 */
import type { V1Service } from '@kubernetes/client-node'
import type { Generator } from '../api.ts'
import type { ExecutionNode } from '../resources/context.ts'

/** The Service that stands for the execution node; null where the upstream is none. */
export function upstreamAddress({
  spec,
  metadata,
}: Generator): { readonly namespace: string; readonly name: string } | null {
  const { service } = spec.upstream
  if (service === undefined) return null
  return { namespace: service.namespace ?? metadata.namespace, name: service.name }
}

/** The execution node's pods; null where the spec does not lead to any. */
export function executionNodeOf(
  { spec, metadata }: Generator,
  service: V1Service | null,
): ExecutionNode | null {
  const { podSelector } = spec.upstream
  if (podSelector !== undefined) {
    return { namespace: metadata.namespace, labels: podSelector.matchLabels }
  }
  const labels = service?.spec?.selector
  if (labels === undefined || Object.keys(labels).length === 0) return null
  return { namespace: service?.metadata?.namespace ?? metadata.namespace, labels }
}
