/** The ServiceAccount of the pods: it has no rights, and no token of it is mounted. */
import type { V1ServiceAccount } from '@kubernetes/client-node'
import type { Workload } from '../../api.ts'
import { childMetadata } from '../names/metadata.ts'
import { childNames } from '../names/names.ts'

export function serviceAccount(resource: Workload): V1ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: childMetadata(resource, childNames(resource).base),
    automountServiceAccountToken: false,
  }
}
