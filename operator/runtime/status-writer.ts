/**
 * Writes the status of resources: by server-side apply, only where it differs from what is there, and
 * figures that move all the time once a minute at most. Each write is for the version of the resource
 * that is known: what was found about one that is gone is not said of the next one of its name. (A UID
 * would not do; the API server overlooks it in the status of custom resources.)
 */
import { isDeepStrictEqual } from 'node:util'
import type { KubernetesApi } from './client/api.ts'
import { hasCode } from './client/api-error.ts'
import { toJsonText } from './client/json-text.ts'
import type { KubernetesObject } from './client/kubernetes-object.ts'
import { toTime } from './client/micro-time.ts'
import type { ResourceType } from './client/resource-type.ts'

/** A condition as it is wanted, without the times that this file keeps. */
export interface WantedCondition {
  /** Of one that is kept as it was: the generation that it is about. Left out, that of the resource. */
  readonly observedGeneration?: number
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

export interface WantedStatus {
  /** Written as soon as they differ; those that are not named are taken away. */
  readonly conditions: readonly WantedCondition[]
  /** Types of conditions whose messages move like figures: one that is new alone is written like them. */
  readonly moving?: readonly string[]
  /**
   * Further fields that are written as soon as they differ; `observedGeneration` is the resource's generation
   * where it is not among them.
   */
  readonly facts: Readonly<Record<string, unknown>>
  /** Fields that move with every block: written with anything else, else once a minute at most. */
  readonly figures: Readonly<Record<string, unknown>>
}

interface StatusOutcome {
  /** Also false where the resource is another than the one that is known. */
  readonly written: boolean
  /**
   * When figures that were held back are due, or what is known is likely to be the newest again: not
   * every change that stands in the way of a write asks for a reconcile.
   */
  readonly requeueAfterMs?: number
}

export interface StatusWriter {
  /** `live` is the resource as it is known, with its status and its resourceVersion. */
  write(
    type: ResourceType,
    live: KubernetesObject,
    wanted: WantedStatus,
    signal?: AbortSignal,
  ): Promise<StatusOutcome>
}

interface StatusWriterOptions {
  /** Owner of the status: `viewmesh-operator-status`. */
  readonly fieldManager: string
  /** Shortest time between two writes that only bring new figures. Default 60,000. */
  readonly figuresIntervalMs?: number
}

interface DatedCondition extends WantedCondition {
  readonly observedGeneration?: number
  readonly lastTransitionTime: string
}

type StatusFields = Readonly<Record<string, unknown>>

const defaultFiguresIntervalMs = 60_000
const maxMessageLength = 1_024
/** Longer than a watch takes to report a change. */
const conflictPauseMs = 1_000

export function createStatusWriter(
  options: StatusWriterOptions,
  { api }: { readonly api: Pick<KubernetesApi, 'apply'> },
): StatusWriter {
  const intervalMs = options.figuresIntervalMs ?? defaultFiguresIntervalMs
  const { fieldManager } = options
  /** When the status of each UID was written last, the oldest first. */
  const writtenAtMs = new Map<string, number>()

  const remember = (uid: string, nowMs: number): void => {
    writtenAtMs.delete(uid)
    writtenAtMs.set(uid, nowMs)
    for (const [known, atMs] of writtenAtMs) {
      if (nowMs - atMs <= intervalMs) break
      writtenAtMs.delete(known)
    }
  }
  /** False where the resource is not as it is known any more. */
  const apply = async (
    type: ResourceType,
    { metadata: { name, namespace, resourceVersion } = {} }: KubernetesObject,
    status: StatusFields,
    signal: AbortSignal | undefined,
  ): Promise<boolean> => {
    const object = { metadata: defined({ name, namespace, resourceVersion }), status }
    try {
      await api.apply(type, object, { subresource: 'status', fieldManager, signal })
      return true
    } catch (error) {
      if (hasCode(error, 'OPERATOR_API_CONFLICT')) return false
      throw error
    }
  }
  return {
    async write(type, live, wanted, signal) {
      const before = statusOf(live)
      const { prompt, figures } = toStatus(live, wanted)
      const uid = live.metadata?.uid ?? ''
      const nowMs = performance.now()
      const rest = withoutKeys(before, figures)
      if (isSame(rest, withOldMessages(rest, prompt, wanted.moving ?? []))) {
        const isStill = isSame(rest, prompt)
        if (isStill && isDeepStrictEqual(withKeys(before, figures), figures)) {
          return { written: false }
        }
        const dueMs = (writtenAtMs.get(uid) ?? Number.NEGATIVE_INFINITY) + intervalMs
        if (dueMs > nowMs) return { written: false, requeueAfterMs: Math.ceil(dueMs - nowMs) }
      }
      const written = await apply(type, live, { ...prompt, ...figures }, signal)
      if (!written) return { written, requeueAfterMs: conflictPauseMs }
      remember(uid, nowMs)
      return { written }
    },
  }
}

function toStatus(
  live: KubernetesObject,
  wanted: WantedStatus,
): { readonly prompt: StatusFields; readonly figures: StatusFields } {
  const observedGeneration = live.metadata?.generation
  const before = conditionsOf(statusOf(live))
  const now = toTime(new Date())
  const conditions = wanted.conditions.map((condition): DatedCondition => {
    const known = before.find(({ type }) => type === condition.type)
    const isKept = known?.status === condition.status
    return {
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
      ...condition,
      message: condition.message.slice(0, maxMessageLength),
      lastTransitionTime: isKept ? known.lastTransitionTime : now,
    }
  })
  const prompt = defined({ observedGeneration, ...wanted.facts, conditions })
  return { prompt, figures: defined(wanted.figures) }
}

/** The status with the messages that these conditions had, where their reasons are the same. */
function withOldMessages(
  before: StatusFields,
  after: StatusFields,
  moving: readonly string[],
): StatusFields {
  const old = conditionsOf(before)
  const conditions = conditionsOf(after).map((condition) => {
    const known = moving.includes(condition.type)
      ? old.find(({ type, reason }) => type === condition.type && reason === condition.reason)
      : undefined
    return known === undefined ? condition : { ...condition, message: known.message }
  })
  return { ...after, conditions }
}

function statusOf(live: KubernetesObject): StatusFields {
  const { status } = live as KubernetesObject & { readonly status?: StatusFields }
  return { ...status }
}

function conditionsOf({ conditions }: StatusFields): readonly DatedCondition[] {
  return Array.isArray(conditions) ? conditions : []
}

/** Conditions are a map by type, whatever their order. */
function isSame(before: StatusFields, after: StatusFields): boolean {
  const sorted = (status: StatusFields): StatusFields => ({
    ...status,
    conditions: conditionsOf(status).toSorted((a, b) => (a.type < b.type ? -1 : 1)),
  })
  return isDeepStrictEqual(sorted(before), sorted(after))
}

/** As the API server keeps it. */
function defined(fields: StatusFields): StatusFields {
  return JSON.parse(toJsonText(fields)) as StatusFields
}

function withKeys(status: StatusFields, keys: StatusFields): StatusFields {
  return Object.fromEntries(Object.entries(status).filter(([name]) => Object.hasOwn(keys, name)))
}

function withoutKeys(status: StatusFields, keys: StatusFields): StatusFields {
  return Object.fromEntries(Object.entries(status).filter(([name]) => !Object.hasOwn(keys, name)))
}
