/**
 * What the API server made of objects that were applied, where admission (a webhook, a policy) or a default of
 * Kubernetes wrote other values than were asked for. To apply such an object again would change nothing, so it is
 * left as it was answered for as long as both stay the same: what is wanted, and what is there.
 */
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

/** By kind and name. */
export type Answers = Map<string, Answer>

/** The drift that nobody has answered yet. */
export function unanswered(
  answers: Answers,
  wanted: KubernetesObject,
  drift: readonly Drift[],
): Drift[] {
  const answer = answers.get(keyOfObject(wanted))
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
  const known = answers.get(key)?.fields
  const fields = new Map(drift.map(({ path, live }) => [path, hashOf(live)]))
  if (fields.size === 0) answers.delete(key)
  else answers.set(key, { wanted: hashOf(wanted), fields })
  const news = [...fields].filter(([path, live]) => known?.get(path) !== live)
  if (news.length === 0) return
  const paths = listed(news.map(([path]) => path))
  const note = `${key} has other values than the operator applied, as admission or a default of Kubernetes writes them: ${paths}. They are left so.`
  recordEvent(parts, resource, { reason: 'ChangedByAdmission', action: 'Apply', note })
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
