/**
 * The execution node of a Generator: which pods it is, so that the Generator can run beside them. What
 * was found once is kept, since another answer replaces the Generator's pod.
 */
import type { V1Service } from '@kubernetes/client-node'
import type { Generator } from '../api.ts'
import { colocationOf } from '../resources/affinity.ts'
import type { ExecutionNode } from '../resources/context.ts'
import type { Statement } from './problem.ts'

/** The Service that stands for the execution node; null where the upstream is none. */
export function upstreamAddress({
  spec,
  metadata,
}: Generator): { readonly namespace: string; readonly name: string } | null {
  const { service } = spec.upstream
  if (service === undefined) return null
  return { namespace: service.namespace ?? metadata.namespace, name: service.name }
}

/**
 * The execution node's pods; null where the spec does not lead to any. Where a Service names no pods
 * now, those that it named before.
 */
export function executionNodeOf(
  generator: Generator,
  service: V1Service | null,
  before: ExecutionNode | null,
): ExecutionNode | null {
  const { spec, metadata } = generator
  const { podSelector } = spec.upstream
  if (podSelector !== undefined) {
    return { namespace: metadata.namespace, labels: podSelector.matchLabels }
  }
  const address = upstreamAddress(generator)
  if (address === null) return null
  const name = `${address.namespace}/${address.name}`
  const labels = service?.spec?.selector ?? {}
  if (Object.keys(labels).length > 0) return { namespace: address.namespace, labels, service: name }
  return before?.service === name ? before : null
}

/** Why a Generator that has to run beside its execution node cannot: nobody says which pods that is. */
export function homelessStatement(
  generator: Generator,
  node: ExecutionNode | null,
): Statement<'ExecutionNodeUnknown'> | null {
  const address = upstreamAddress(generator)
  if (address === null || node !== null || colocationOf(generator) !== 'Required') return null
  return {
    reason: 'ExecutionNodeUnknown',
    message: `spec.upstream.service.colocate is Required, and Service ${address.namespace}/${address.name} has no selector that says which pods the execution node is: give it one, name the pods in spec.upstream.podSelector, or set colocate to Preferred.`,
  }
}
