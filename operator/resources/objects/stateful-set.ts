/** The StatefulSet of a resource. */
import type { V1StatefulSet } from '@kubernetes/client-node'
import type { Workload } from '../../api.ts'
import { childMetadata, selectorLabels } from '../names/metadata.ts'
import { childNames, updatePartition, wantedReplicas } from '../names/names.ts'
import { type Discovered, discoveredAnnotations } from '../pod/discovered.ts'
import { recordAnnotations, type TemplateRecord } from '../pod/template-record.ts'
import { claimTemplates } from './claims.ts'

/** How long a pod has to be ready before the next one is replaced. */
const minReadySeconds = 10

/**
 * Pods start side by side, so that one that cannot start does not hold up the others or a way back
 * (https://github.com/kubernetes/kubernetes/issues/67250), and are replaced one after the other.
 * Volumes stay whatever happens to it; what may be deleted has an owner of its own.
 */
export function statefulSet(
  resource: Workload,
  record: TemplateRecord,
  discovered: Discovered,
): V1StatefulSet {
  const { base, nodes } = childNames(resource)
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: childMetadata(resource, base, {
      annotations: { ...recordAnnotations(record), ...discoveredAnnotations(discovered) },
    }),
    spec: {
      serviceName: nodes,
      replicas: wantedReplicas(resource),
      selector: { matchLabels: selectorLabels(resource) },
      podManagementPolicy: 'Parallel',
      updateStrategy: {
        type: 'RollingUpdate',
        rollingUpdate: { partition: updatePartition(resource) },
      },
      minReadySeconds,
      revisionHistoryLimit: 5,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      template: record.template,
      volumeClaimTemplates: claimTemplates(resource),
    },
  }
}
