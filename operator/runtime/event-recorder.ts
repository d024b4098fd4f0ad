/**
 * Events (events.k8s.io/v1) about objects. One that happens again within ten minutes is the same Event
 * with a higher count, written once a minute at most.
 *
 * About each object so many different warnings are written within the ten minutes, and as many other Events, so
 * that neither keeps the other from being reported. What goes beyond that is counted on the last Event of the same
 * reason, as client-go counts whatever differs in its note alone; its own note is in the log. The first of each
 * reason is always written.
 */
import { hash, randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { KubernetesApi } from './client/api.ts'
import { hasCode } from './client/api-error.ts'
import type { KubernetesObject } from './client/kubernetes-object.ts'
import { toMicroTime } from './client/micro-time.ts'
import { builtinTypes, type ObjectAddress, type ResourceType } from './client/resource-type.ts'

/** Something worth an Event about an object. */
export interface Occurrence {
  readonly type: 'Normal' | 'Warning'
  /** One word in upper camel case, the same as the reason of a condition. */
  readonly reason: string
  /** What was done or tried: `Apply`, `Reconcile`. */
  readonly action: string
  /** A sentence for people, cut at 1,024 bytes of UTF-8. Never a secret. */
  readonly note: string
}

export interface EventRecorder {
  /**
   * Returns at once. An Event that cannot be written is tried again once a minute, for ten minutes, where the API
   * server may take it then; what is dropped is logged.
   */
  record(type: ResourceType, object: KubernetesObject, occurrence: Occurrence): void
  /** Writes the counts that are still due. */
  close(): Promise<void>
}

interface EventRecorderOptions {
  /** Who reports, such as `viewmesh.io/operator`. */
  readonly controller: string
  /** Which process of it; 128 characters at most. */
  readonly instance: string
  /** Shortest time between two writes of one Event. Default 60,000. */
  readonly repeatMs?: number
  /** After so long without it, the same happening is a new Event. Default 600,000. */
  readonly windowMs?: number
}

interface EventRecorderParts {
  readonly api: Pick<KubernetesApi, 'create' | 'patch'>
  readonly log: Logger
}

/** What is repeated: everything but name and time, and beyond the budget but the note too. */
interface Series {
  /** Of the Event as it is, with its note. */
  readonly id: string
  /** The same without the note. */
  readonly kindID: string
  readonly uid: string
  readonly address: ObjectAddress
  readonly occurrence: Occurrence
  /** Null once it is written: of thousands of Events, bodies would take most of the memory. */
  body: KubernetesObject | null
  count: number
  written: number
  lastAt: Date
  timer: NodeJS.Timeout | undefined
}

/** A recorder at work. */
interface Recorder {
  readonly options: Required<EventRecorderOptions>
  readonly parts: EventRecorderParts
  /** By `id`, the oldest first. */
  readonly known: Map<string, Series>
  writing: Promise<void>
  isClosing: boolean
}

const defaultRepeatMs = 60_000
const defaultWindowMs = 600_000
/** The API server refuses longer ones, and counts bytes. */
const maxNoteBytes = 1_024
/** Different Events of each type about one object within the window, besides the first of each reason. */
const maxPerObject = 25

export function openEventRecorder(
  options: EventRecorderOptions,
  parts: EventRecorderParts,
): EventRecorder {
  const { repeatMs = defaultRepeatMs, windowMs = defaultWindowMs } = options
  const recorder: Recorder = {
    options: { ...options, repeatMs, windowMs },
    parts,
    known: new Map(),
    writing: Promise.resolve(),
    isClosing: false,
  }
  return {
    record: (type, object, occurrence) => record(recorder, type, object, occurrence),
    async close() {
      recorder.isClosing = true
      for (const series of recorder.known.values()) {
        clearTimeout(series.timer)
        enqueue(recorder, series)
      }
      await recorder.writing
    },
  }
}

function record(
  recorder: Recorder,
  type: ResourceType,
  object: KubernetesObject,
  occurrence: Occurrence,
): void {
  const { known, options, parts } = recorder
  const now = new Date()
  dropOld(recorder, now.getTime())
  const series = seriesOf(options, type, object, occurrence, now)
  const before = known.get(series.id)
  if (before !== undefined) {
    repeat(recorder, before)
    return
  }
  const others = [...known.values()].filter(({ uid }) => uid === series.uid)
  const alike = others.findLast(({ kindID }) => kindID === series.kindID)
  const ofType = others.filter((other) => other.occurrence.type === occurrence.type)
  if (alike !== undefined && ofType.length >= maxPerObject) {
    const { reason, note } = occurrence
    const { namespace, name } = object.metadata ?? {}
    const facts = { kind: type.kind, namespace, object: name, reason, note }
    parts.log.info(facts, 'many Events about one object, this one is only counted')
    repeat(recorder, alike)
    return
  }
  known.set(series.id, series)
  enqueue(recorder, series)
}

function dropOld({ known, options }: Recorder, nowMs: number): void {
  for (const [id, { lastAt, timer }] of known) {
    if (nowMs - lastAt.getTime() > options.windowMs && timer === undefined) known.delete(id)
  }
}

function repeat(recorder: Recorder, series: Series): void {
  series.count += 1
  series.lastAt = new Date()
  writeLater(recorder, series)
}

function writeLater(recorder: Recorder, series: Series): void {
  if (recorder.isClosing) return
  series.timer ??= setTimeout(() => {
    series.timer = undefined
    enqueue(recorder, series)
  }, recorder.options.repeatMs)
}

function enqueue(recorder: Recorder, series: Series): void {
  recorder.writing = recorder.writing.then(() => write(recorder, series))
}

async function write(recorder: Recorder, series: Series): Promise<void> {
  if (series.count === series.written) return
  try {
    if (series.body === null) await writeCount(recorder, series)
    else await create(recorder, series, series.body)
  } catch (error) {
    failed(recorder, series, error)
  }
}

async function create(recorder: Recorder, series: Series, body: KubernetesObject): Promise<void> {
  await recorder.parts.api.create(builtinTypes.Event, body)
  series.written = 1
  series.body = null
  if (series.count === 1) return
  if (recorder.isClosing) await writeCount(recorder, series)
  else writeLater(recorder, series)
}

async function writeCount({ parts }: Recorder, series: Series): Promise<void> {
  const { address, count, lastAt } = series
  const patch = { series: { count, lastObservedTime: toMicroTime(lastAt) } }
  await parts.api.patch(address, patch, { type: 'merge' })
  series.written = count
}

/** Answers that another attempt may change. */
const passing = [
  'OPERATOR_API_UNREACHABLE',
  'OPERATOR_API_TIMEOUT',
  'OPERATOR_API_BUSY',
  'OPERATOR_API_FAILED',
  'OPERATOR_FENCED',
] as const

function failed(recorder: Recorder, series: Series, error: unknown): void {
  const { known, options, parts, isClosing } = recorder
  const { id, address, occurrence, lastAt } = series
  const { reason, note } = occurrence
  const ageMs = Date.now() - lastAt.getTime()
  const facts = { err: error, event: address.name, reason, note, lastAt }
  if (hasCode(error, ...passing) && ageMs < options.windowMs && !isClosing) {
    parts.log.debug(facts, 'an Event could not be written yet')
    writeLater(recorder, series)
    return
  }
  known.delete(id)
  parts.log.warn(facts, 'an Event could not be written')
}

function seriesOf(
  { controller, instance }: EventRecorderOptions,
  type: ResourceType,
  { metadata }: KubernetesObject,
  occurrence: Occurrence,
  at: Date,
): Series {
  const namespace = metadata?.namespace ?? 'default'
  const name = `${metadata?.name ?? 'unknown'}.${randomBytes(8).toString('hex')}`
  const same = {
    reportingController: controller,
    reportingInstance: instance.slice(0, 128),
    type: occurrence.type,
    reason: occurrence.reason,
    action: occurrence.action,
    regarding: {
      apiVersion: type.apiVersion,
      kind: type.kind,
      namespace: metadata?.namespace,
      name: metadata?.name,
      uid: metadata?.uid,
    },
  }
  const note = cut(occurrence.note, maxNoteBytes)
  const event = { metadata: { name, namespace }, eventTime: toMicroTime(at), ...same, note }
  return {
    id: idOf({ ...same, note }),
    kindID: idOf(same),
    uid: metadata?.uid ?? '',
    address: { type: builtinTypes.Event, namespace, name },
    occurrence,
    body: event,
    count: 1,
    written: 0,
    lastAt: at,
    timer: undefined,
  }
}

/** As many whole characters as take no more bytes than this. */
function cut(text: string, maxBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes))
  return text.slice(0, read)
}

/** Hashed, as it is kept for each. */
function idOf(body: object): string {
  return hash('sha256', JSON.stringify(body))
}
