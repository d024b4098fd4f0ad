/** Registers the keys of a resource with the operator, and finds those that another resource has. */
import type { Workload } from '../../api.ts'
import { keyOf } from '../../runtime/client/resource-type.ts'
import type { ReconcileRun } from '../../runtime/controller.ts'
import { type HeldKey, type KeyHolders, logHolders, type SharedKey } from '../fetch/key-holders.ts'
import type { ReplicaIdentity } from '../observe/claim.ts'
import type { ResourceMemory } from './resource-memory.ts'

interface HoldParts {
  readonly holders: KeyHolders
  readonly memory: Pick<ResourceMemory<unknown>, 'keyHolders'>
  readonly run: Pick<ReconcileRun, 'log'>
}

/** In one go, so that of two resources with one key that are reconciled at once one is the second. */
export function holdKeys(
  { holders, memory, run }: HoldParts,
  { metadata: { namespace, name } }: Workload,
  identities: readonly ReplicaIdentity[],
): SharedKey[] {
  const shared = holders.hold(keyOf(namespace, name), keysOf(identities))
  logHolders(memory, shared, run.log)
  return shared
}

/** The keys that replicas have, or had when they were last seen. */
function keysOf(replicas: readonly ReplicaIdentity[]): HeldKey[] {
  return replicas.flatMap(({ key, claim, known }) =>
    [key, known?.fingerprint ?? null]
      .filter((fingerprint) => fingerprint !== null)
      .map((fingerprint) => ({
        fingerprint,
        isShown: fingerprint === key && [known?.fingerprint, claim?.fingerprint].includes(key),
      })),
  )
}
