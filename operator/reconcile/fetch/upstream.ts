/**
 * The execution node of a Generator: which pods it is, so that the Generator can run beside them. What
 * was found once is kept, since another result replaces the Generator's pod. Of another namespace only that is
 * read which consents (`service-consent.ts`).
 */
import type { V1Pod, V1Service } from '@kubernetes/client-node'
import type { Generator } from '../../api.ts'
import { canonicalJson } from '../../resources/names/canonical-json.ts'
import { colocationOf } from '../../resources/pod/affinity.ts'
import type { ExecutionNode } from '../../resources/pod/context.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { Statement } from '../statements/problem.ts'
import type { FetchParts } from './kind-logic.ts'
import { consentText, isConsenting } from './service-consent.ts'

/** What was found of the execution node. */
export interface UpstreamFacts {
  readonly executionNode: ExecutionNode | null
  /** `namespace/name` of the Service that is to be the upstream and does not exist. */
  readonly missingService: string | null
  /** The same of one that the operator may not read; the Generator may reach it all the same. */
  readonly hiddenService: string | null
  /** The same of one in another namespace that does not consent, or does not exist. */
  readonly closedService: string | null
}

interface ServiceAddress {
  readonly namespace: string
  readonly name: string
}

type UpstreamParts = Pick<FetchParts, 'api' | 'recorded' | 'signal'>

/** Reads the Service, if the upstream is one, and the pods, if the network policy has to allow them. */
export async function findUpstream(
  generator: Generator,
  parts: UpstreamParts,
): Promise<UpstreamFacts> {
  const found = await findService(generator, parts)
  const { executionNode: node } = found
  if (node === null || !generator.spec.networkPolicy.enabled) return found
  const isReadable = found.hiddenService === null && found.closedService === null
  const isHostNetwork = !isReadable || (await isInHostNetwork(node, parts))
  const { isHostNetwork: _, ...rest } = node
  return { ...found, executionNode: isHostNetwork ? { ...rest, isHostNetwork } : rest }
}

async function findService(
  generator: Generator,
  { api, recorded, signal }: UpstreamParts,
): Promise<UpstreamFacts> {
  const before = recorded.executionNode
  const address = upstreamAddress(generator)
  const nothing = { missingService: null, hiddenService: null, closedService: null }
  if (address === null) {
    return { ...nothing, executionNode: executionNodeOf(generator, null, before) }
  }
  const name = `${address.namespace}/${address.name}`
  try {
    const service = await api.find<V1Service>(
      { type: builtinTypes.Service, ...address },
      { signal },
    )
    const { namespace } = generator.metadata
    if (address.namespace !== namespace && !isConsenting(service, namespace)) {
      const executionNode = executionNodeOf(generator, null, before)
      return { ...nothing, executionNode, closedService: name }
    }
    const executionNode = executionNodeOf(generator, service, before)
    return { ...nothing, executionNode, missingService: service === null ? name : null }
  } catch (error) {
    if (!hasCode(error, 'OPERATOR_API_FORBIDDEN')) throw error
    const executionNode = executionNodeOf(generator, null, before)
    return { ...nothing, executionNode, hiddenService: name }
  }
}

/**
 * Where there are no pods now it is as it was of those with the same labels; pods that may not be read
 * may be anywhere.
 */
async function isInHostNetwork(
  node: ExecutionNode,
  { api, recorded: { executionNode: before }, signal }: UpstreamParts,
): Promise<boolean> {
  const { namespace, labels } = node
  const labelSelector = Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
  try {
    const { items } = await api.list<V1Pod, boolean>(
      { type: builtinTypes.Pod, namespace, labelSelector },
      { keep: ({ spec }) => spec?.hostNetwork === true, signal },
    )
    if (items.length > 0) return items.includes(true)
    return before?.isHostNetwork === true && isSamePods(before, node)
  } catch (error) {
    if (hasCode(error, 'OPERATOR_API_FORBIDDEN')) return true
    throw error
  }
}

function isSamePods(a: ExecutionNode, b: ExecutionNode): boolean {
  const selection = ({ namespace, labels, service }: ExecutionNode): string =>
    canonicalJson({ namespace, labels, service })
  return selection(a) === selection(b)
}

/** The Service that stands for the execution node; null where the upstream is none. */
function upstreamAddress({ spec, metadata }: Generator): ServiceAddress | null {
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
  const isOfService = before?.service === name && before.namespace === address.namespace
  return isOfService ? before : null
}

/** Why a Generator that has to run beside its execution node cannot: its pods are not known. */
export function homelessStatement(
  generator: Generator,
  facts: UpstreamFacts,
): Statement<'ExecutionNodeUnknown'> | null {
  const address = upstreamAddress(generator)
  const isRequired = colocationOf(generator) === 'Required'
  if (address === null || facts.executionNode !== null || !isRequired) return null
  const reason = obstacleText(generator, facts)
  const message =
    reason === null
      ? `spec.upstream.service.colocate is Required, and Service ${address.namespace}/${address.name} has no selector that says which pods the execution node is: give it one, name the pods in spec.upstream.podSelector, or set colocate to Preferred.`
      : `spec.upstream.service.colocate is Required, and ${reason}, or set colocate to None.`
  return { reason: 'ExecutionNodeUnknown', message }
}

/** That a Generator runs anywhere, though it would rather be near its execution node; null if it is not so. */
export function apartRemark(generator: Generator, facts: UpstreamFacts): string | null {
  const reason = obstacleText(generator, facts)
  if (facts.executionNode !== null || reason === null) return null
  if (colocationOf(generator) === 'None') return null
  return `The Generator is not kept near its execution node, since ${reason}.`
}

/** Why the Service is not read, with the remedy; null where it is. */
function obstacleText(
  { metadata }: Generator,
  { hiddenService, closedService }: UpstreamFacts,
): string | null {
  if (closedService !== null) return consentText(closedService, metadata.namespace)
  if (hiddenService === null) return null
  return `the operator may not read Service ${hiddenService}: add its namespace to the operator's (scope.namespaces of its chart)`
}
