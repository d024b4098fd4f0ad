/**
 * Brings one View to what its spec says: makes its file and keeps it in a ConfigMap, from which the reconciles of the
 * selected Hosts take it, and says how it stands there. The same holds as for what has pods: it is safe to interrupt
 * anywhere, and what is remembered can be found again.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ViewResource } from '../api.ts'
import { viewConfigName } from '../resources/names/names.ts'
import { viewConfigMap } from '../resources/objects/view-config-maps.ts'
import { unreadFailure } from '../runtime/cache/unread.ts'
import { hasCode } from '../runtime/client/api-error.ts'
import { parseKey } from '../runtime/client/resource-type.ts'
import type { Reconcile, ReconcileResult, ReconcileRun } from '../runtime/controller.ts'
import { applyDifference, differenceOf, findUnwatched, isOfDeleted } from './apply/children.ts'
import { heldBackMs } from './apply/manage.ts'
import { tryDifference } from './apply/pause.ts'
import type { ReconcileParts } from './apply/reconcile-parts.ts'
import { registerView } from './apply/register-view.ts'
import {
  childKey,
  type KnownObjects,
  nothingKnown,
  type PendingWarnings,
} from './apply/resource-memory.ts'
import { storedView } from './evaluate/host-views.ts'
import { type Management, rivalOf, unmanaged } from './evaluate/management.ts'
import { isSenderKnown, registrationOf } from './evaluate/registration.ts'
import { type SituationParts, selectedHosts, situationsOf } from './evaluate/view-situations.ts'
import { isStillThere } from './fetch/still-there.ts'
import {
  buildView,
  type DefinitionResult,
  type ReadView,
  readStored,
  senderOf,
} from './fetch/view-definition.ts'
import { observedName } from './observe/observed-name.ts'
import { isReported } from './statements/conditions.ts'
import { isPassing, problemOf } from './statements/problem.ts'
import { recordEvent } from './statements/record-event.ts'
import { type ViewFindings, wantedViewStatus } from './status/view-status.ts'
import { writeReport } from './status/write-report.ts'

/** How soon the next step of a registration follows, once the status has the one before. */
const goOnMs = 100

/** What is remembered of a View until the next reconcile. */
interface ViewMemory {
  readonly uid: string
  management: Management
  readonly objects: KnownObjects
  readonly pendingWarnings: PendingWarnings
  /** As it was reconciled last: what is said of it once it is gone. */
  view: ViewResource
  /** What its ConfigMap was found to hold, by the version of that, and as whose View. */
  stored: { readonly version: string; readonly read: ReadView | null } | null
}

interface ViewParts extends ReconcileParts<ViewResource>, Pick<SituationParts, 'isLeft'> {}

interface ViewContext {
  readonly parts: ViewParts
  readonly view: ViewResource
  readonly memory: ViewMemory
  readonly run: ReconcileRun
}

/** The reconcile of Views. */
export function createViewReconcile(parts: ViewParts): Reconcile {
  const memories = new Map<string, ViewMemory>()
  return async (key, run) => {
    const { namespace, name } = parseKey(key)
    const view = parts.informer.get(namespace, name)?.value
    if (view === undefined || view.metadata.deletionTimestamp !== undefined) {
      sayWhatRemains(parts, memories.get(key))
      memories.delete(key)
      parts.resync.endWaiting(`View ${key}`)
      return {}
    }
    const known = memories.get(key)
    const isSame = known?.uid === view.metadata.uid
    // One of the same name came before it was seen that this one is gone.
    if (!isSame) sayWhatRemains(parts, known)
    const memory = isSame ? known : newMemory(view)
    memory.view = view
    memories.set(key, memory)
    const heldMs = await heldBackMs(parts, view, memory, run)
    if (heldMs !== null) return { requeueAfterMs: heldMs }
    return await reconcileView({ parts, view, memory, run })
  }
}

/** Nothing takes it off the chain again, and nothing here is left to say so later. */
function sayWhatRemains(parts: ReconcileParts<ViewResource>, memory: ViewMemory | undefined): void {
  if (memory === undefined) return
  const { view } = memory
  const { state, transaction } = registrationOf(view)
  if (state === 'Preparing') return
  const by = transaction === undefined ? '' : `, by ${transaction.hash},`
  const sent = state === 'Registered' ? 'stays' : `may come to be${by}`
  const note = `View ${view.status?.viewID ?? view.metadata.name} ${sent} on the registry chain; Hosts that follow the chain serve it.`
  recordEvent(parts, view, { reason: 'ViewRemainsOnChain', action: 'Delete', note })
}

function newMemory(view: ViewResource): ViewMemory {
  const { metadata, status } = view
  return {
    uid: metadata.uid,
    view,
    management: unmanaged,
    objects: nothingKnown(status),
    pendingWarnings: new Map(),
    stored: null,
  }
}

/** Gets as far as it can, and says that. */
async function reconcileView(context: ViewContext): Promise<ReconcileResult> {
  const { parts, view, memory, run } = context
  const rival = rivalOf(memory.management, parts.nowMs())
  const nothing: ViewFindings = {
    read: null,
    wrong: null,
    situations: [],
    problem: null,
    error: null,
    isUnread: false,
    registration: null,
    waiting: null,
    overlap: rival === null ? null : [parts.self, rival],
  }
  try {
    const { namespace } = view.metadata
    const own = parts.informer.reflectorOf(namespace)
    const needed = [...parts.view.reflectorsOf(namespace), ...(own === undefined ? [] : [own])]
    const failure = unreadFailure(needed)
    if (failure !== null) {
      return await report(context, { ...nothing, ...stopOf(failure), isUnread: true })
    }
    return await report(context, { ...nothing, ...(await workOn(context)) })
  } catch (error) {
    if (run.signal.aborted || hasCode(error, 'OPERATOR_FENCED')) throw error
    const stop = stopOf(error)
    const { problem } = stop
    const result = await report(context, { ...nothing, ...stop })
    if (problem === null && !isPassing(error)) throw error
    if (problem !== null && !isReported(view, problem))
      run.log.warn({ err: error }, 'stopped until a person acts')
    return result
  }
}

/** Keeps its file, goes on with its registration, and finds out how Hosts stand to it. */
async function workOn(
  context: ViewContext,
): Promise<Omit<ViewFindings, 'problem' | 'error' | 'isUnread' | 'overlap'>> {
  const { parts, view, run } = context
  const { view: read, wrong } = await readDefinition(context)
  const written = read === null ? [] : await keepFile(context, read)
  const registration = await registerView(parts, view, read, run)
  const waiting = view.spec.paused ? [...written, ...(registration?.waiting ?? [])] : null
  const own = isSenderKnown(view) ? read?.id : undefined
  const id = view.spec.registryID ?? own ?? view.status?.viewID ?? null
  return { read, wrong, registration, waiting, situations: situationsOf(parts, view, id) }
}

function stopOf(error: unknown): Pick<ViewFindings, 'problem' | 'error'> {
  const problem = problemOf(error)
  return problem === null ? { problem, error } : { problem, error: null }
}

const noDefinition: Omit<DefinitionResult, 'wrong'> & { readonly wrong: null } = {
  view: null,
  wrong: null,
}

/** What its ConfigMap keeps, where that is the View; else made of the lenses, which may be gone by now. */
async function readDefinition({
  parts,
  view,
  memory,
  run,
}: ViewContext): Promise<DefinitionResult | typeof noDefinition> {
  const { definition } = view.spec
  if (definition === undefined) return noDefinition
  const { namespace } = view.metadata
  const cached = parts.view.children.ConfigMap.get(namespace, viewConfigName(view))
  const sender = senderOf(view)
  const version = `${cached?.uid} ${cached?.resourceVersion} ${sender}`
  if (memory.stored?.version !== version) {
    const stored = storedView(parts.view, view)
    memory.stored = {
      version,
      read: stored === null ? null : readStored(definition, stored, sender),
    }
  }
  const { read } = memory.stored
  if (read !== null) return { view: read, wrong: null }
  return await buildView(parts.api, view, definition, run.signal)
}

/** Writes the ConfigMap of the View where it is not as it has to be; while paused returns what would be written. */
async function keepFile(
  { parts, view, memory, run }: ViewContext,
  { file }: ReadView,
): Promise<readonly string[]> {
  const wanted = viewConfigMap(view, file)
  const known = memory.objects
  const unwatched = await findUnwatched(parts, view, [wanted], run.signal)
  const difference = differenceOf({ view: parts.view, unwatched }, view, wanted, known)
  if (view.spec.paused) {
    const text = difference && (await tryDifference(parts, difference, run.signal))
    return text === null ? [] : [text]
  }
  const name = viewConfigName(view)
  if (difference !== null) {
    if (isOfDeleted(difference) && !(await isStillThere(parts, view, run.signal))) return []
    const corrected = await applyDifference(parts, view, known, difference, run.signal)
    const isDeleted = difference.drift.length === 0
    run.log.info({ kind: 'ConfigMap', object: name, action: difference.action }, 'object written')
    if (difference.action === 'correct' && (isDeleted || corrected.length > 0)) {
      const what = isDeleted ? 'had been deleted' : 'had been changed'
      const note = `ConfigMap ${name} ${what}.`
      recordEvent(parts, view, { reason: 'DriftCorrected', action: 'Apply', note })
    }
  }
  known.applied.add(childKey('ConfigMap', name))
  return []
}

async function report(
  { parts, view, memory, run }: ViewContext,
  findings: ViewFindings,
): Promise<ReconcileResult> {
  const { wrong, problem, error, registration } = findings
  const status = wantedViewStatus(view, findings)
  const isOpen = registration !== null && registration.status.state !== 'Registered'
  const isWaiting = wrong !== null || problem !== null || isOpen
  const asked = selectedHosts(parts.view, view).map(observedName)
  const wanted = { status, problem, error, isWaiting, asked }
  const reported = await writeReport(parts, view, memory, wanted, run.signal)
  const result = reported?.result ?? {}
  const isNews = registration && !isDeepStrictEqual(registration.status, view.status?.registration)
  return isNews ? { ...result, requeueAfterMs: goOnMs } : result
}
