/**
 * Events (events.k8s.io/v1) about objects. One that happens again within ten minutes is the same Event
 * with a higher count, written once a minute at most.
 */
import { hash, randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { KubernetesApi } from './client/api.ts'
import { hasCode } from './client/api-error.ts'
import type { KubernetesObject } from './client/kubernetes-object.ts'
import { toMicroTime } from './client/micro-time.ts'
import { builtinTypes, type ResourceType } from './client/resource-type.ts'

/** Something worth an Event about an object. */
export interface Occurrence {
  readonly type: 'Normal' | 'Warning'
  /** One word in upper camel case, the same as the reason of a condition. */
  readonly reason: string
  /** What was done or tried: `Apply`, `Reconcile`. */
  readonly action: string
  /** A sentence for people, cut at 1,024 characters. Never a secret. */
  readonly note: string
}

export interface EventRecorder {
  /** Returns at once; an Event that cannot be written is logged and dropped. */
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

/** One Event, as far as it has to be known to count on. */
interface Series {
  readonly id: string
  readonly uid: string
  readonly namespace: string
  readonly name: string
  /** Null once it is written: of thousands of Events, bodies would take most of the memory. */
  body: KubernetesObject | null
  count: number
  written: number
  lastAt: Date
  timer: NodeJS.Timeout | undefined
}

const defaultRepeatMs = 60_000
const defaultWindowMs = 600_000
const maxNoteLength = 1_024
/** More different Events about one object within the window are not written. */
const maxPerObject = 25

export function openEventRecorder(
  options: EventRecorderOptions,
  { api, log }: EventRecorderParts,
): EventRecorder {
  const repeatMs = options.repeatMs ?? defaultRepeatMs
  const windowMs = options.windowMs ?? defaultWindowMs
  const known = new Map<string, Series>()
  let writing: Promise<void> = Promise.resolve()

  const enqueue = (series: Series): void => {
    writing = writing.then(() => write(series))
  }
  const write = async (series: Series): Promise<void> => {
    const { body, count, id, lastAt, written } = series
    if (count === written) return
    try {
      await (body === null ? extend(series) : api.create(builtinTypes.Event, body))
      series.written = body === null ? count : 1
      series.body = null
    } catch (error) {
      if (hasCode(error, 'OPERATOR_API_NOT_FOUND')) known.delete(id)
      log.warn({ err: error, event: series.name, lastAt }, 'an Event could not be written')
    }
  }
  const extend = ({ namespace, name, count, lastAt }: Series): Promise<unknown> => {
    const patch = { series: { count, lastObservedTime: toMicroTime(lastAt) } }
    return api.patch({ type: builtinTypes.Event, namespace, name }, patch, { type: 'merge' })
  }
  const dropOld = (nowMs: number): void => {
    for (const [id, { lastAt, timer }] of known)
      if (nowMs - lastAt.getTime() > windowMs && timer === undefined) known.delete(id)
  }
  const repeat = (series: Series): void => {
    series.count += 1
    series.lastAt = new Date()
    series.timer ??= setTimeout(() => {
      series.timer = undefined
      enqueue(series)
    }, repeatMs)
  }
  return {
    record(type, object, occurrence) {
      const now = new Date()
      dropOld(now.getTime())
      const series = seriesOf(options, type, object, occurrence, now)
      const before = known.get(series.id)
      if (before !== undefined) {
        repeat(before)
        return
      }
      if (countOf(known, series.uid) >= maxPerObject) {
        log.debug({ reason: occurrence.reason }, 'too many Events about one object')
        return
      }
      known.set(series.id, series)
      enqueue(series)
    },
    async close() {
      for (const series of known.values()) {
        clearTimeout(series.timer)
        enqueue(series)
      }
      await writing
    },
  }
}

function seriesOf(
  options: EventRecorderOptions,
  type: ResourceType,
  { metadata }: KubernetesObject,
  occurrence: Occurrence,
  at: Date,
): Series {
  const namespace = metadata?.namespace ?? 'default'
  const name = `${metadata?.name ?? 'unknown'}.${randomBytes(8).toString('hex')}`
  const body = {
    metadata: { name, namespace },
    eventTime: toMicroTime(at),
    reportingController: options.controller,
    reportingInstance: options.instance.slice(0, 128),
    type: occurrence.type,
    reason: occurrence.reason,
    action: occurrence.action,
    note: occurrence.note.slice(0, maxNoteLength),
    regarding: {
      apiVersion: type.apiVersion,
      kind: type.kind,
      namespace: metadata?.namespace,
      name: metadata?.name,
      uid: metadata?.uid,
    },
  }
  const uid = metadata?.uid ?? ''
  const times = { count: 1, written: 0, lastAt: at, timer: undefined }
  return { id: idOf(body), uid, namespace, name, body, ...times }
}

/** What makes two Events the same: everything but name and time. Hashed, as it is kept for each. */
function idOf(body: KubernetesObject): string {
  return hash('sha256', JSON.stringify({ ...body, metadata: undefined, eventTime: undefined }))
}

/** How many different Events about one object are known. */
function countOf(known: ReadonlyMap<string, Series>, uid: string): number {
  let count = 0
  for (const series of known.values()) if (series.uid === uid) count += 1
  return count
}
