/** What is kept of a pod: where it is, how it is, and why it is not well. */
import type { V1ContainerStateTerminated, V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { publicHealthPort } from '../resources/container.ts'
import { type LastWords, lastWordsText, readLastWords } from './health/last-words.ts'
import { withoutStop } from './sentences.ts'
import { timeOf } from './time-of.ts'

export interface KeptPod {
  readonly name: string
  readonly uid: string
  readonly createdMs: number | null
  readonly isGoing: boolean
  readonly isReady: boolean
  readonly ip: string | null
  /** Address of its machine. */
  readonly hostIP: string | null
  readonly isHostNetwork: boolean
  /** Its port for health that everybody may ask for, as its own template had it. */
  readonly publicHealth: number
  /** What keeps it from running, as Kubernetes says it; null where nothing does. */
  readonly trouble: PodTrouble | null
  /** Of a container that failed and is not ready since. */
  readonly lastWords: LastWords | null
  /** Of the container that failed last, whatever it does now. */
  readonly lastFailure: { readonly words: LastWords; readonly endedMs: number } | null
}

export interface PodTrouble {
  /** `unbound`: it is placed once its claims are bound, as far as the scheduler says. */
  readonly kind: 'failing' | 'unschedulable' | 'unbound'
  /** What happened, and what to do. */
  readonly message: string
  /** Where the program itself said why it ended: its words, and the message without what to do. */
  readonly ended?: { readonly words: LastWords; readonly what: string }
}

/** Reasons of waiting containers that do not go away by themselves. */
const failures: readonly string[] = [
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'RunContainerError',
]

export function keepPod({ metadata, spec, status }: V1Pod): KeptPod {
  const isReady = status?.conditions?.some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  )
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    createdMs: timeOf(metadata?.creationTimestamp),
    isGoing: metadata?.deletionTimestamp !== undefined,
    isReady: isReady === true,
    ip: status?.podIP || null,
    hostIP: status?.hostIP || null,
    isHostNetwork: spec?.hostNetwork === true,
    publicHealth: publicHealthPort(spec),
    trouble: placeTrouble(status, spec?.priority) ?? containersTrouble(status),
    lastWords:
      statusesOf(status)
        .map(lastWordsOf)
        .find((words) => words !== null) ?? null,
    lastFailure:
      statusesOf(status)
        .map(lastFailureOf)
        .find((failure) => failure !== null) ?? null,
  }
}

function placeTrouble(status: V1Pod['status'], priority = 0): PodTrouble | null {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.reason !== 'Unschedulable') return null
  const why = withoutStop(scheduled.message ?? 'no machine fits')
  const kind = /PersistentVolumeClaim/i.test(why) ? 'unbound' : 'unschedulable'
  return { kind, message: `${why}. ${placeRemedy(why, priority)}` }
}

function containersTrouble(status: V1Pod['status']): PodTrouble | null {
  const troubles = statusesOf(status).map(containerTrouble)
  return troubles.find((trouble) => trouble !== null) ?? null
}

/** What to do where the scheduler finds no machine, by what it says of those that there are. */
function placeRemedy(why: string, priority: number): string {
  if (/PersistentVolumeClaim|volume/i.test(why)) {
    return 'See the events of its claims: kubectl describe pvc.'
  }
  if (/match pod affinity rules/.test(why)) {
    return 'See whether the pods run that it has to be near: those of affinity in spec.podTemplate, and of a Generator its execution node (colocate: Required).'
  }
  const yielding = `With priority ${priority} it gives way to all pods that have more: another priorityClassName there changes that.`
  const room = 'Make room, or change what spec.podTemplate asks of machines.'
  return priority < 0 ? `${room} ${yielding}` : room
}

function statusesOf(status: V1Pod['status']): V1ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
}

function containerTrouble(status: V1ContainerStatus): PodTrouble | null {
  const { name, state, lastState } = status
  const { reason = '', message } = state?.waiting ?? {}
  if (!failures.includes(reason)) return null
  const ended = lastState?.terminated
  const words = lastWordsOf(status)
  const said = words === null ? detail(reason, message) : lastWordsText({ ...words, remedy: null })
  const end = ended === undefined ? '' : endText(ended)
  const parts = [`container ${name}`, `${reason}${end}`, withoutStop(said)]
  const what = `${parts.filter((part) => part !== '').join(': ')}.`
  const remedy = withoutStop(words?.remedy || remedyOf(status, reason))
  const trouble: PodTrouble = { kind: 'failing', message: `${what} ${remedy}.` }
  return words === null ? trouble : { ...trouble, ended: { words, what } }
}

/** What a container said that failed last time it ran and is not well since. */
function lastWordsOf({ ready, state, lastState }: V1ContainerStatus): LastWords | null {
  const ended = state?.terminated ?? lastState?.terminated
  return ready || !ended?.exitCode ? null : readLastWords(ended.message)
}

function lastFailureOf({ state, lastState }: V1ContainerStatus): KeptPod['lastFailure'] {
  const ended = state?.terminated ?? lastState?.terminated
  const words = ended?.exitCode ? readLastWords(ended.message) : null
  const endedMs = timeOf(ended?.finishedAt)
  return words === null || endedMs === null ? null : { words, endedMs }
}

/** Kubernetes calls an end `Error` that it knows no better name for. */
function endText({ exitCode, reason = 'Error' }: V1ContainerStateTerminated): string {
  return reason === 'Error' ? ` (ended with code ${exitCode})` : ` (${reason}, code ${exitCode})`
}

/** Of a crash Kubernetes says no more than how long it waits, which is another time each time. */
function detail(reason: string, message: string | undefined): string {
  return reason === 'CrashLoopBackOff' ? '' : (message ?? '').slice(0, 300)
}

function remedyOf({ name, lastState }: V1ContainerStatus, reason: string): string {
  const ended = lastState?.terminated
  if (/Image/.test(reason)) return imageRemedy(name, reason)
  if (reason !== 'CrashLoopBackOff') {
    return 'Correct spec.podTemplate, or make what it refers to.'
  }
  return ended?.reason === 'OOMKilled'
    ? 'Raise the memory limit of the container in spec.podTemplate.'
    : 'See its log with kubectl logs --previous.'
}

/** A login helps where the image is asked for at a registry. */
function imageRemedy(container: string, reason: string): string {
  const isOurs = container === 'generator' || container === 'host'
  const correct = `Correct ${isOurs ? 'spec.image' : 'its image in spec.podTemplate'}`
  if (reason !== 'ErrImagePull' && reason !== 'ImagePullBackOff') return `${correct}.`
  return `${correct}, or where its registry wants a login, name a Secret for it in spec.podTemplate.spec.imagePullSecrets, or for all pods in global.imagePullSecrets of the operator’s chart.`
}
