/** Holds a resource back that another operator manages as well, and says so; see `management.ts`. */
import type { Resource } from '../../api.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import type { ReconcileRun } from '../../runtime/controller.ts'
import { decideManagement } from '../evaluate/management.ts'
import { recordEvent } from '../statements/record-event.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import type { ResourceMemory } from './resource-memory.ts'

/** Owner of `status.managedBy`: not that of the rest of the status, which is applied as a whole. */
const fieldManager = 'viewmesh-operator-management'
/** Longer than a watch takes to report who wrote the status meanwhile. */
const conflictPauseMs = 1_000

/** Returns null where the resource is ours to manage now, else for how many milliseconds nothing is to be done. */
export async function heldBackMs<R extends Resource>(
  parts: ReconcileParts<R>,
  resource: R,
  memory: Pick<ResourceMemory<unknown>, 'management'>,
  run: ReconcileRun,
): Promise<number | null> {
  const nowMs = parts.nowMs()
  const managedBy = resource.status?.managedBy
  const { step, after } = decideManagement(managedBy, parts.self, memory.management, nowMs)
  if (step === 'takeOver' && !(await takeOver(parts, resource, run))) return conflictPauseMs
  memory.management = after
  if (step === 'yield') reportYield(parts, resource, managedBy ?? '', run)
  const waitMs = after.waitUntilMs - nowMs
  return waitMs > 0 ? waitMs : null
}

/** False where the resource is not as it is known any more. */
async function takeOver<R extends Resource>(
  { api, informer, type, self }: ReconcileParts<R>,
  { metadata: { name, namespace, uid }, status }: R,
  { signal, log }: ReconcileRun,
): Promise<boolean> {
  const latest = informer.get(namespace, name)
  if (latest?.uid !== uid) return false
  const { resourceVersion } = latest
  const object = { metadata: { name, namespace, resourceVersion }, status: { managedBy: self } }
  try {
    await api.apply(type, object, { subresource: 'status', fieldManager, signal })
  } catch (error) {
    if (hasCode(error, 'OPERATOR_API_CONFLICT')) return false
    throw error
  }
  const before = status?.managedBy
  if (before !== undefined) log.warn({ before, self }, 'taking over what another operator managed')
  return true
}

function reportYield<R extends Resource>(
  parts: ReconcileParts<R>,
  resource: R,
  other: string,
  { log }: ReconcileRun,
): void {
  const { self } = parts
  log.warn({ other, self }, 'left to another operator, which is at work on it as well')
  const note = `Operator ${self} leaves it to operator ${other}, which manages it as well. ${overlapRemedy}`
  recordEvent(parts, resource, { reason: 'LeftToOperator', action: 'Reconcile', note })
}

/** What ends an overlap. */
export const overlapRemedy =
  'Uninstall one of the two, or have them watch different namespaces (scope of the chart).'
