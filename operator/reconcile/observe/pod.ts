/** What is kept of a pod: where it is, how it is, and why it is not well. */
import type { V1ContainerStateTerminated, V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { labels } from '../../api/annotations.ts'
import { publicHealthPort } from '../../resources/pod/container.ts'
import { timeOf } from '../../runtime/client/micro-time.ts'
import { type Owner, ownersOf } from '../statements/ownership.ts'
import { withoutStop } from '../statements/sentences.ts'
import {
  parseTerminationMessage,
  type TerminationMessage,
  terminationText,
} from './termination-message.ts'

export interface KeptPod {
  readonly name: string
  readonly uid: string
  readonly createdMs: number | null
  /** Those that pods are selected by. */
  readonly labels: Readonly<Record<string, string>>
  readonly owners: readonly Owner[]
  /** UID of the one owner that manages it, such as a StatefulSet; null for none. */
  readonly controllerUID: string | null
  readonly isTerminating: boolean
  readonly isReady: boolean
  readonly ip: string | null
  /** Address of its machine. */
  readonly hostIP: string | null
  readonly isHostNetwork: boolean
  /** Its port for health that everybody may ask for, as its own template had it. */
  readonly publicHealth: number
  /** What keeps it from running, as Kubernetes says it; null where nothing does. */
  readonly failure: PodFailure | null
  /** Of a container that failed and is not ready since. */
  readonly terminationMessage: TerminationMessage | null
  /** Of the container that failed last, whatever it does now. */
  readonly lastFailure: {
    readonly termination: TerminationMessage
    readonly endedMs: number
  } | null
}

export interface PodFailure {
  /** `unbound`: it is placed once its claims are bound, as far as the scheduler says. */
  readonly kind: 'failing' | 'unschedulable' | 'unbound'
  /** What happened, and what to do. */
  readonly message: string
  /** Where the program itself reported why it ended: its termination message, and the text without what to do. */
  readonly ended?: { readonly termination: TerminationMessage; readonly what: string }
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
    labels: selectingLabels(metadata?.labels ?? {}),
    owners: ownersOf(metadata),
    controllerUID:
      metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid ?? null,
    isTerminating: metadata?.deletionTimestamp !== undefined,
    isReady: isReady === true,
    ip: status?.podIP || null,
    hostIP: status?.hostIP || null,
    isHostNetwork: spec?.hostNetwork === true,
    publicHealth: publicHealthPort(spec),
    failure: schedulingFailure(status, spec?.priority) ?? containersFailure(status),
    terminationMessage:
      statusesOf(status)
        .map(terminationMessageOf)
        .find((termination) => termination !== null) ?? null,
    lastFailure:
      statusesOf(status)
        .map(lastFailureOf)
        .find((failure) => failure !== null) ?? null,
  }
}

function selectingLabels(all: Readonly<Record<string, string>>): Record<string, string> {
  const kept: readonly string[] = [labels.name, labels.instance]
  return Object.fromEntries(Object.entries(all).filter(([name]) => kept.includes(name)))
}

function schedulingFailure(status: V1Pod['status'], priority = 0): PodFailure | null {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.reason !== 'Unschedulable') return null
  const why = withoutStop(scheduled.message ?? 'no machine fits')
  const kind = /PersistentVolumeClaim/i.test(why) ? 'unbound' : 'unschedulable'
  return { kind, message: `${why}. ${placeRemedy(why, priority)}` }
}

function containersFailure(status: V1Pod['status']): PodFailure | null {
  const pendingWarnings = statusesOf(status).map(containerFailure)
  return pendingWarnings.find((failure) => failure !== null) ?? null
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

function containerFailure(status: V1ContainerStatus): PodFailure | null {
  const { name, state, lastState } = status
  const { reason = '', message } = state?.waiting ?? {}
  if (!failures.includes(reason)) return null
  const ended = lastState?.terminated
  const termination = terminationMessageOf(status)
  const said =
    termination === null
      ? detail(reason, message)
      : terminationText({ ...termination, remedy: null })
  const end = ended === undefined ? '' : endText(ended)
  const parts = [`container ${name}`, `${reason}${end}`, withoutStop(said)]
  const what = `${parts.filter((part) => part !== '').join(': ')}.`
  const remedy = withoutStop(termination?.remedy || remedyOf(status, reason))
  const failure: PodFailure = { kind: 'failing', message: `${what} ${remedy}.` }
  return termination === null ? failure : { ...failure, ended: { termination, what } }
}

/** What a container said that failed last time it ran and is not well since. */
function terminationMessageOf({
  ready,
  state,
  lastState,
}: V1ContainerStatus): TerminationMessage | null {
  const ended = state?.terminated ?? lastState?.terminated
  return ready || !ended?.exitCode ? null : parseTerminationMessage(ended.message)
}

function lastFailureOf({ state, lastState }: V1ContainerStatus): KeptPod['lastFailure'] {
  const ended = state?.terminated ?? lastState?.terminated
  const termination = ended?.exitCode ? parseTerminationMessage(ended.message) : null
  const endedMs = timeOf(ended?.finishedAt)
  return termination === null || endedMs === null ? null : { termination, endedMs }
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
