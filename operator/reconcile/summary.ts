/** The end of the reconcile of what has pods: its status, and the Events that only it has. */
import type { Workload } from '../api.ts'
import type { ReconcileResult } from '../runtime/controller.ts'
import type { ReconcileContext } from './context.ts'
import { ownWrite } from './evaluate/foreign-writes.ts'
import { observeState } from './evaluate/observed-state.ts'
import { newlyMissingNote } from './fetch/named-secrets.ts'
import { observedName } from './observe/observed-name.ts'
import { recordEvent } from './statements/record-event.ts'
import type { Findings } from './status/findings.ts'
import { type ReportedStatus, wantedStatus } from './status/resource-status.ts'
import { writeReport } from './status/write-report.ts'

/** Writes what was found, unless the resource is another one by now. */
export async function patchStatus<R extends Workload, F>(
  context: ReconcileContext<R, F>,
): Promise<ReconcileResult> {
  const { resource, memory, findings, logic, parts, run } = context
  const { namespace, name } = resource.metadata
  const state = observeState(parts, resource, findings.unwatched)
  const status = wantedStatus(logic, parts, resource, { findings, state })
  const report = {
    ...{ status, problem: findings.problem, error: findings.error, isWaiting: isWaiting(findings) },
    asked: [observedName(resource)],
  }
  const reported = await writeReport(parts, resource, memory, report, run.signal)
  if (reported?.isWritten === true) {
    const written = parts.informer.get(namespace, name)?.value.status
    memory.foreignWrites = ownWrite(memory.foreignWrites, written)
    recordNotes(context, status)
  }
  return reported?.result ?? {}
}

function isWaiting<F>({ problem, identity, hold, failedCreate }: Findings<F>): boolean {
  return [problem, identity?.problem, identity?.lack, hold, failedCreate].some(Boolean)
}

/** Records what no condition has. */
function recordNotes<R extends Workload, F>(
  { resource, findings, parts }: ReconcileContext<R, F>,
  { conditions, notes }: ReportedStatus,
): void {
  const before = resource.status?.conditions ?? []
  const note = newlyMissingNote(before, conditions, findings.hold)
  if (note !== null) recordEvent(parts, resource, { reason: 'SecretGone', action: 'Ready', note })
  for (const text of notes) recordEvent(parts, resource, text)
}
