/** Who wrote which fields of a claim, as the API server of Kubernetes 1.34 notes it. */
import type { V1ManagedFieldsEntry } from '@kubernetes/client-node'

export interface ClaimMakers {
  /** Field manager of the program that created it. */
  readonly made: string
  /** Of the one that reports it as bound. */
  readonly bound: string
  /** Of the one that chose its volume; the first one where this is not said. */
  readonly chosen?: string
}

export function fieldsOfClaim({ made, bound, chosen = made }: ClaimMakers): V1ManagedFieldsEntry[] {
  const volume = { 'f:volumeName': {} }
  const spec = { 'f:accessModes': {}, 'f:resources': {}, ...(chosen === made ? volume : {}) }
  const update = { operation: 'Update', fieldsType: 'FieldsV1', apiVersion: 'v1' }
  return [
    { ...update, manager: 'kube-scheduler', fieldsV1: { 'f:metadata': { 'f:annotations': {} } } },
    { ...update, manager: made, fieldsV1: { 'f:spec': spec } },
    ...(chosen === made ? [] : [{ ...update, manager: chosen, fieldsV1: { 'f:spec': volume } }]),
    {
      ...update,
      manager: bound,
      subresource: 'status',
      fieldsV1: { 'f:status': { 'f:capacity': {}, 'f:phase': {} } },
    },
  ]
}
