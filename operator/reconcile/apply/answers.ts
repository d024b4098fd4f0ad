/**
 * What the API server made of objects that were applied, where admission (a webhook, a policy) or a default of
 * Kubernetes wrote other values than were asked for. To apply such an object again would change nothing, so it is
 * left as it was answered for as long as both stay the same: what is wanted, and what is there.
 */
import type { AdmissionChange } from '../../api/status.ts'
import type { Resource } from '../../api.ts'
import type { Drift } from '../../resources/drift/drift.ts'
import { canonicalJson, shortHash } from '../../resources/names/canonical-json.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import { type EventParts, recordEvent } from '../statements/record-event.ts'
import { listed } from '../statements/sentences.ts'

interface Answer {
  /** Hash of the object that was applied. */
  readonly wanted: string
  /** By path: hash of the value that is there instead. Values may be those of a Secret. */
  readonly fields: ReadonlyMap<string, string>
}

/** By kind and name of objects. */
export interface Answers {
  readonly known: Map<string, Answer>
  /** Paths that were reported, also by an operator before this one, as status has them. */
  readonly reported: Map<string, readonly string[]>
}

/** What is known before anything was applied, but for what a status says was reported. */
export function noAnswers(changes: readonly AdmissionChange[] = []): Answers {
  return {
    known: new Map(),
    reported: new Map(changes.map(({ object, fields }) => [object, fields])),
  }
}

/** The drift that nobody has answered yet. */
export function unanswered(
  answers: Answers,
  wanted: KubernetesObject,
  drift: readonly Drift[],
): Drift[] {
  const answer = answers.known.get(keyOfObject(wanted))
  if (answer === undefined || answer.wanted !== hashOf(wanted)) return [...drift]
  return drift.filter(({ path, live }) => answer.fields.get(path) !== hashOf(live))
}

/** Remembers how an object is after it was applied. What is new of that is said in an Event, once. */
export function rememberAnswer(
  parts: EventParts,
  resource: Resource,
  { answers, wanted, drift }: AnsweredObject,
): void {
  const key = keyOfObject(wanted)
  const before = answers.known.get(key)?.fields ?? null
  const reported = answers.reported.get(key) ?? []
  const fields = new Map(drift.map(({ path, live }) => [path, hashOf(live)]))
  if (fields.size === 0) forgetAnswer(answers, key)
  else {
    answers.known.set(key, { wanted: hashOf(wanted), fields })
    answers.reported.set(key, [...fields.keys()])
  }
  const isNews = ([path, live]: readonly [string, string]): boolean =>
    before === null ? !reported.includes(path) : before.get(path) !== live
  const news = [...fields].filter(isNews)
  if (news.length === 0) return
  const paths = listed(news.map(([path]) => path))
  const note = `${key} has other values than the operator applied, as admission or a default of Kubernetes writes them: ${paths}. They are left so.`
  recordEvent(parts, resource, { reason: 'ChangedByAdmission', action: 'Apply', note })
}

/** The object is gone, or as it was applied; `key` is its kind and name. */
export function forgetAnswer({ known, reported }: Answers, key: string): void {
  known.delete(key)
  reported.delete(key)
}

/** So many are in a status; more than there are, where nobody makes them up. */
const maxObjects = 128
const maxFields = 32

/** What was reported, for the status: the next operator is not to report it again. */
export function admissionFacts({
  reported,
}: Answers): Pick<NonNullable<Resource['status']>, 'changedByAdmission'> {
  if (reported.size === 0) return {}
  const changes = [...reported].map(
    ([object, fields]): AdmissionChange => ({
      object,
      fields: fields.toSorted().slice(0, maxFields),
    }),
  )
  const changedByAdmission = changes
    .toSorted((a, b) => (a.object < b.object ? -1 : 1))
    .slice(0, maxObjects)
  return { changedByAdmission }
}

interface AnsweredObject {
  readonly answers: Answers
  readonly wanted: KubernetesObject
  /** Where the answer is other than what is wanted. */
  readonly drift: readonly Drift[]
}

function keyOfObject({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata?.name}`
}

function hashOf(value: unknown): string {
  return shortHash(canonicalJson(value) ?? '')
}
