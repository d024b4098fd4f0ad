/** The end of each reconcile: writes the status once, records Events, and says when the next one is due. */
import type { Resource } from '../../api.ts'
import type { ReconcileResult } from '../../runtime/controller.ts'
import type { WantedStatus } from '../../runtime/status-writer.ts'
import { admissionFacts } from '../apply/answers.ts'
import type { ReconcileParts } from '../apply/reconcile-parts.ts'
import type { ResourceMemory } from '../apply/resource-memory.ts'
import { observedName } from '../observe/observed-name.ts'
import { isPassing, type Problem } from '../statements/problem.ts'
import { isAskRequested } from '../statements/requested.ts'
import { recordChanges } from './record-changes.ts'

/** How soon a resource is reconciled again whose failure passes without a change that is watched. */
const passingMs = 1_000

/** What a reconcile comes to. */
interface Report {
  readonly status: WantedStatus
  readonly problem: Problem | null
  /** What is tried again; null where nothing failed. */
  readonly error: unknown
  /** Whether it waits for something that only another attempt finds, such as a Secret or a raised quota. */
  readonly isWaiting: boolean
  /** Observed names of those whose replicas a request to reconcile is a request to ask. */
  readonly asked: readonly string[]
}

/** What became of a report. */
interface Reported {
  readonly isWritten: boolean
  readonly result: ReconcileResult
}

/** Writes it, unless the resource is another one by now, which is null. */
export async function writeReport<R extends Resource>(
  parts: ReconcileParts<R>,
  resource: R,
  memory: Pick<ResourceMemory<unknown>, 'objects' | 'pendingWarnings'>,
  report: Report,
  signal: AbortSignal,
): Promise<Reported | null> {
  const { namespace, name, uid } = resource.metadata
  const latest = parts.informer.get(namespace, name)
  if (latest?.uid !== uid) return null
  const owner = observedName(resource)
  if (report.isWaiting) parts.resync.beginWaiting(owner)
  else parts.resync.endWaiting(owner)
  const facts = { ...report.status.facts, ...admissionFacts(memory.objects.answers) }
  const wanted = { ...report.status, facts }
  // Who manages it is applied by itself, see `manage.ts`.
  const { managedBy: _, ...status } = latest.value.status ?? {}
  const metadata = { ...resource.metadata, resourceVersion: latest.resourceVersion }
  const live = { ...resource, metadata, status }
  const outcome = await parts.status.write(parts.type, live, wanted, signal)
  const isWritten = outcome.written
  const changes = { conditions: wanted.conditions, isWritten }
  const nextWarningMs = recordChanges(parts, resource, changes, memory.pendingWarnings)
  if (isAskRequested(resource)) for (const one of report.asked) parts.observer.checkNow(one)
  const passing = isPassing(report.error) ? passingMs : null
  const pauses = [parts.resync.intervalMs(owner), nextWarningMs, passing, outcome.requeueAfterMs]
  return {
    isWritten,
    result: {
      requeueAfterMs: Math.min(...pauses.flatMap((pause) => pause ?? [])),
      isTerminal: report.problem !== null,
    },
  }
}
