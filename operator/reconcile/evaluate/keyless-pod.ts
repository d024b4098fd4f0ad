/**
 * Pods that were created before the key of their replica was in the keyring Secret, as where somebody scaled the
 * StatefulSet by hand: Kubernetes mounts a directory in place of the key, and leaves it there for as long as the pod lives.
 */
import type { ErrorCode } from '../../../src/errors.ts'
import { environment } from '../../../src/service/contract.ts'
import type { Workload } from '../../api.ts'
import { wantedOrdinals } from '../../resources/names/names.ts'
import type { Keyring } from '../fetch/keyring.ts'
import type { KeptPod } from '../observe/pod.ts'
import type { ObservedState } from './observed-state.ts'

const code: ErrorCode = 'CONFIG_INVALID'

/** So that a pod which does not find its key again is not replaced without a pause. */
const youngMs = 30_000

/** A pod that says so though its replica has a key by now; null for none. */
export function keylessPod(
  resource: Workload,
  { pods, observedMs }: Pick<ObservedState, 'pods' | 'observedMs'>,
  { fingerprints }: Pick<Keyring, 'fingerprints'>,
): KeptPod | null {
  const found = wantedOrdinals(resource)
    .filter((ordinal) => fingerprints.has(ordinal))
    .flatMap((ordinal) => pods.get(ordinal) ?? [])
    .find((pod) => lacksKey(pod) && !pod.isTerminating && isOld(pod, observedMs))
  return found ?? null
}

function lacksKey({ terminationMessage }: KeptPod): boolean {
  const { message = '', code: said = null } = terminationMessage ?? {}
  return (
    said === code &&
    message.startsWith(`${environment.keyringSecretFile} points to `) &&
    message.includes('which is a directory')
  )
}

function isOld({ createdMs }: KeptPod, nowMs: number): boolean {
  return createdMs !== null && nowMs - createdMs >= youngMs
}
