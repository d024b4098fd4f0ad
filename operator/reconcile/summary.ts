/** The end of each reconcile: patches the status once, records Events, and says when the next one is due. */
import { requests } from '../api/annotations.ts'
import type { Workload } from '../api.ts'
import type { ReconcileResult } from '../runtime/controller.ts'
import { admissionFacts } from './apply/answers.ts'
import type { ReconcileContext } from './context.ts'
import { ownWrite } from './evaluate/foreign-writes.ts'
import { observeState } from './evaluate/observed-state.ts'
import { newlyMissingNote } from './fetch/named-secrets.ts'
import { observedName } from './observe/observed-name.ts'
import { isPassing } from './statements/problem.ts'
import { recordEvent } from './statements/record-event.ts'
import type { Findings } from './status/findings.ts'
import { recordChanges } from './status/record-changes.ts'
import { type ReportedStatus, wantedStatus } from './status/resource-status.ts'

/** How soon a resource is reconciled again whose failure passes without a change that is watched. */
const passingMs = 1_000

/** Writes what was found, unless the resource is another one by now. */
export async function patchStatus<R extends Workload, F>(
  context: ReconcileContext<R, F>,
): Promise<ReconcileResult> {
  const { resource, memory, findings, logic, parts, run } = context
  const { namespace, name, uid } = resource.metadata
  const latest = parts.informer.get(namespace, name)
  if (latest?.uid !== uid) return {}
  const owner = observedName(resource)
  if (isWaiting(findings)) parts.resync.beginWaiting(owner)
  else parts.resync.endWaiting(owner)
  const state = observeState(parts, resource, findings.unwatched)
  const found = wantedStatus(logic, parts, resource, { findings, state })
  const wanted = { ...found, facts: { ...found.facts, ...admissionFacts(memory.objects.answers) } }
  const { resourceVersion, value } = latest
  const metadata = { ...resource.metadata, resourceVersion }
  // Who manages it is applied by itself, see `manage.ts`.
  const { managedBy: _, ...status } = value.status ?? {}
  const live = { ...resource, metadata, status }
  const outcome = await parts.status.write(parts.type, live, wanted, run.signal)
  if (outcome.written) {
    const written = parts.informer.get(namespace, name)?.value.status
    memory.foreignWrites = ownWrite(memory.foreignWrites, written)
  }
  const nextWarningMs = recordEvents(context, wanted, outcome.written)
  checkHealthIfRequested(context)
  const pauses = [
    parts.resync.intervalMs(owner),
    ...(nextWarningMs === null ? [] : [nextWarningMs]),
    ...(isPassing(findings.error) ? [passingMs] : []),
    ...(outcome.requeueAfterMs === undefined ? [] : [outcome.requeueAfterMs]),
  ]
  return { requeueAfterMs: Math.min(...pauses), isTerminal: findings.problem !== null }
}

/** Whether it waits for something that only another attempt finds, such as a Secret or a raised quota. */
function isWaiting<F>({ problem, identity, hold, failedCreate }: Findings<F>): boolean {
  return [problem, identity?.problem, identity?.lack, hold, failedCreate].some(Boolean)
}

/** Records what changed, where it was written, and what has lasted; returns when the next warning may be due. */
function recordEvents<R extends Workload, F>(
  { resource, memory, findings, parts }: ReconcileContext<R, F>,
  { conditions, notes }: ReportedStatus,
  isWritten: boolean,
): number | null {
  const nextMs = recordChanges(parts, resource, { conditions, isWritten }, memory.pendingWarnings)
  const before = resource.status?.conditions ?? []
  const note = isWritten ? newlyMissingNote(before, conditions, findings.hold) : null
  if (note !== null) recordEvent(parts, resource, { reason: 'SecretGone', action: 'Ready', note })
  for (const text of isWritten ? notes : []) recordEvent(parts, resource, text)
  return nextMs
}

/** A request to reconcile is a request to check the health of the replicas as well. */
function checkHealthIfRequested<R extends Workload, F>({
  resource,
  parts,
}: ReconcileContext<R, F>): void {
  const requested = resource.metadata.annotations?.[requests.reconcileAt]
  const isNew = requested !== undefined && requested !== resource.status?.lastHandledReconcileAt
  if (isNew) parts.observer.checkNow(observedName(resource))
}
