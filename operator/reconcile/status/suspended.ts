/** What is said of a resource of which no pods are wanted: suspended, or scaled to zero. */
import type { ReasonOf } from '../../api/conditions.ts'
import type { Workload } from '../../api.ts'
import type { KeptPod } from '../observe/pod.ts'
import type { Statement } from '../statements/problem.ts'
import { listed } from '../statements/sentences.ts'

/** `Ready`, once there are no pods. */
export function restingStatement({ spec }: Workload): Statement<'ScaledToZero' | 'Suspended'> {
  return spec.suspend
    ? { reason: 'Suspended', message: keptText }
    : { reason: 'ScaledToZero', message: 'No pods are wanted; keys and data are kept.' }
}

const keptText =
  'No pods run; keys, data and addresses are kept, and used again when spec.suspend is false.'

/** `Suspended`, while `spec.suspend` is true; null while it is not. */
export function suspendedStatement(
  { spec }: Workload,
  pods: ReadonlyMap<number, KeptPod>,
  isStalled: boolean,
): Statement<ReasonOf<'Suspended'>> | null {
  if (!spec.suspend) return null
  if (pods.size === 0) return { reason: 'PodsGone', message: keptText }
  const names = listed([...pods.values()].map(({ name }) => name))
  return { reason: 'PodsRunning', message: `${progressText(spec, isStalled)}: ${names}.` }
}

function progressText({ paused }: Workload['spec'], isStalled: boolean): string {
  if (paused) return 'Pods go on while spec.paused is true'
  return isStalled ? 'Pods go on until what Stalled says is done' : 'Pods are being stopped'
}
