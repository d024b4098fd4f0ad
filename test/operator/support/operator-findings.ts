/** What a reconcile found out of a resource, as data: a quiet one, to be changed by each test. */

import type { V1ContainerStatus } from '@kubernetes/client-node'
import type { Workload } from '../../../operator/api.ts'
import type { ObservedState } from '../../../operator/reconcile/evaluate/observed-state.ts'
import type { createHostLogic } from '../../../operator/reconcile/host-logic.ts'
import { keepClaim, type PlacedClaim } from '../../../operator/reconcile/observe/claim.ts'
import { type KeptPod, keepPod } from '../../../operator/reconcile/observe/pod.ts'
import type { SetCounts } from '../../../operator/reconcile/observe/set-counts.ts'
import { type Findings, nothingFound } from '../../../operator/reconcile/status/findings.ts'
import { claimName, podName, volumes } from '../../../operator/resources/names/names.ts'
import { readDiscovered } from '../../../operator/resources/pod/discovered.ts'
import { noPlacedViews } from '../../../operator/resources/pod/placed-views.ts'
import { answerError } from '../../../operator/runtime/client/api-error.ts'
import { builtinTypes } from '../../../operator/runtime/client/resource-type.ts'
import type { ServiceError } from '../../../src/errors.ts'

/** Nothing was written yet, and nothing runs. */
export const emptyState: ObservedState = {
  observedMs: Date.parse('2026-01-01T12:00:00Z'),
  set: null,
  counts: null,
  isSetTerminating: false,
  allClaims: [],
  claims: [],
  pods: new Map(),
  views: new Map(),
  peerIDs: new Map(),
  discovered: [],
  external: new Map(),
  recorded: null,
  recordedDiscovered: readDiscovered(undefined),
  isParked: false,
}

/** Of a StatefulSet with one pod, which is ready. */
export const readyCounts: SetCounts = {
  generation: 1,
  observedGeneration: 1,
  wantedReplicas: 1,
  replicas: 1,
  readyReplicas: 1,
  updatedReplicas: 1,
  isRolling: false,
}

/** Fetched inputs with these facts, and nothing wrong. */
export function foundFacts<F>(facts: F): Findings<F> {
  const keyring = { exists: true, isOwned: false, createdMs: null, fingerprints: new Map() }
  const inputs = { facts, keyring, missing: [], waiting: [], atMs: 0, refetchKey: '', podUIDs: '' }
  return nothingFound({ inputs, refusedGrowth: null })
}

/** What the API server says where it refuses to apply a StatefulSet. */
export function refusedApply(code: number, message: string, reason = ''): ServiceError {
  const type = builtinTypes.StatefulSet
  const body = JSON.stringify({ kind: 'Status', code, message, reason })
  return answerError({ verb: 'apply', type, namespace: 'apps', name: 'a' }, code, body)
}

/** Pod 0 of a resource, whose only container is so. */
export function podWith(resource: Workload, container: Partial<V1ContainerStatus>): KeptPod {
  const defaults = { name: 'program', image: '', imageID: '', ready: false, restartCount: 0 }
  return keepPod({
    metadata: { name: podName(resource, 0), uid: 'pod' },
    status: { containerStatuses: [{ ...defaults, ...container }] },
  })
}

/** The claims of replica 0, bound in the size that is wanted. */
export function boundClaims(resource: Workload): PlacedClaim[] {
  return volumes.map((volume) => {
    const storage = resource.spec.storage[volume].size
    const claim = keepClaim({
      metadata: { name: claimName(resource, volume, 0), uid: volume },
      spec: { resources: { requests: { storage } } },
      status: { phase: 'Bound', capacity: { storage } },
    })
    return { volume, ordinal: 0, claim }
  })
}

/** The Views of a Host that no View selects. */
export const noViews: Parameters<typeof createHostLogic>[1] = {
  placed: () => noPlacedViews,
  asked: () => [],
}
