/**
 * Brings one resource to what its spec says: see that no other operator manages it, register health targets, check
 * that what is watched has been read, give stray pods their owner, evaluate, run the steps in order until one stops
 * or fails, and at the end patch the status once.
 */
import type { Workload } from '../api.ts'
import { unreadFailure } from '../runtime/cache/unread.ts'
import { hasCode } from '../runtime/client/api-error.ts'
import { parseKey } from '../runtime/client/resource-type.ts'
import type { Reconcile } from '../runtime/controller.ts'
import { heldBackMs } from './apply/manage.ts'
import type { ReconcileParts } from './apply/reconcile-parts.ts'
import { registerHealthTargets } from './apply/register-health-targets.ts'
import { createMemories, type ResourceMemory } from './apply/resource-memory.ts'
import {
  addFindings,
  type Evaluated,
  type ReconcileContext,
  type ReconcileTools,
} from './context.ts'
import { isWrittenByOthers, seenStatus } from './evaluate/foreign-writes.ts'
import { rivalOf } from './evaluate/management.ts'
import { evaluateResource } from './evaluation.ts'
import { createKeyHolders } from './fetch/key-holders.ts'
import type { KindLogic } from './fetch/kind-logic.ts'
import { observedName } from './observe/observed-name.ts'
import { isReported } from './statements/conditions.ts'
import { isPassing, problemOfSpec } from './statements/problem.ts'
import { type Findings, nothingFound } from './status/findings.ts'
import { ownStrayPods, stepsOf } from './steps.ts'
import { patchStatus } from './summary.ts'

/** The reconcile of one kind. */
export function createReconcile<R extends Workload, F>(
  logic: KindLogic<R, F>,
  parts: ReconcileParts<R>,
): Reconcile {
  const tools: ReconcileTools<R, F> = {
    logic,
    parts,
    memories: createMemories(),
    fingerprints: new Map(),
    holders: createKeyHolders(() => [...parts.informer.list()].map(({ value }) => value)),
  }
  return async (key, run) => {
    const { namespace, name } = parseKey(key)
    const resource = parts.informer.get(namespace, name)?.value
    if (resource === undefined || resource.metadata.deletionTimestamp !== undefined) {
      forget(tools, key)
      return {}
    }
    const memory = tools.memories.of(resource)
    const heldMs = await heldBackMs(parts, resource, memory, run)
    if (heldMs !== null) {
      memory.foreignWrites = { ...memory.foreignWrites, own: null }
      parts.observer.watch(observedName(resource), [])
      return { requeueAfterMs: heldMs }
    }
    const context: ReconcileContext<R, F> = {
      ...tools,
      resource,
      memory,
      run,
      findings: { ...nothingFound(memory), overlap: overlapOf(parts, resource, memory) },
    }
    await reconcileSpec(context)
    const result = await patchStatus(context)
    const { error } = context.findings
    if (error !== null && !isPassing(error)) throw error
    return result
  }
}

/** Which other operator is at work, where one is: it is named, or writes the status without a name. */
function overlapOf<R extends Workload>(
  { self, nowMs }: Pick<ReconcileParts<R>, 'self' | 'nowMs'>,
  { status }: Workload,
  memory: Pick<ResourceMemory<unknown>, 'management' | 'foreignWrites'>,
): Findings<unknown>['overlap'] {
  memory.foreignWrites = seenStatus(memory.foreignWrites, status, nowMs())
  const rival = rivalOf(memory.management, nowMs())
  if (rival !== null) return [self, rival]
  return isWrittenByOthers(memory.foreignWrites, nowMs()) ? [self, null] : null
}

/** Kubernetes deletes what belongs to a deleted resource; here only what is remembered of it goes. */
function forget<R extends Workload, F>(
  { logic, parts, memories, holders }: ReconcileTools<R, F>,
  key: string,
): void {
  const { namespace, name } = parseKey(key)
  const owner = observedName({ kind: logic.kind, metadata: { namespace, name } })
  parts.observer.watch(owner, [])
  memories.drop(key)
  holders.release(key)
  parts.resync.endWaiting(owner)
}

/** Gets as far as it can; what stops it is a finding too. */
async function reconcileSpec<R extends Workload, F>(
  context: ReconcileContext<R, F>,
): Promise<void> {
  const { resource, logic, parts, run } = context
  try {
    registerHealthTargets(parts, resource, logic.occasion?.(resource), logic.views?.(resource))
    expectRead(context)
    addFindings(context, { refusal: await ownStrayPods(context) })
    await runSteps(context, await evaluateResource(context, context.memory.inputs))
  } catch (error) {
    // What failed may have changed what was fetched.
    context.memory.inputs = null
    if (run.signal.aborted || hasCode(error, 'OPERATOR_FENCED')) throw error
    const problem = problemOfSpec(resource, error)
    addFindings(context, {
      problem: problem ?? context.findings.problem,
      error: problem === null ? error : null,
    })
    logStop(context, error)
  }
}

async function runSteps<R extends Workload, F>(
  context: ReconcileContext<R, F>,
  evaluation: Evaluated<F>,
): Promise<void> {
  let evaluated = evaluation
  context.findings = evaluated
  for (const step of stepsOf<R, F>()) {
    const { next, found } = await step(context, evaluated)
    evaluated = { ...evaluated, ...found }
    context.findings = evaluated
    if (next === 'stop') break
  }
  context.memory.inputs = evaluated.inputs
  context.memory.refusedGrowth = evaluated.refusedGrowth
  const { refusal, problem } = evaluated
  if (refusal !== null && problem === null) throw refusal
}

/** What may not be listed looks empty; what is in other namespaces than these does not matter here. */
function expectRead<R extends Workload, F>(context: ReconcileContext<R, F>): void {
  const { resource, logic, parts } = context
  const { namespace } = resource.metadata
  const failure = unreadFailure([
    ...parts.view.reflectorsOf(namespace),
    ...(logic.alsoRead?.(resource) ?? []),
  ])
  if (failure === null) return
  addFindings(context, { isUnread: true })
  throw failure
}

/** What only a person can fix is logged once; what is thrown on is logged by the controller. */
function logStop<R extends Workload, F>(
  { resource, findings, run }: ReconcileContext<R, F>,
  error: unknown,
): void {
  const { problem } = findings
  if (isPassing(error)) run.log.debug({ err: error }, 'tried again soon')
  if (problem === null || findings.error !== null || isReported(resource, problem)) return
  run.log.warn({ err: error }, 'stopped until a person acts')
}
