/**
 * Volumes: whether they are bound, hold this chain, and are as large as wanted. Growing goes in steps
 * that each follow from what is there, so that it goes on wherever it was interrupted: ask for more on
 * each claim; when all claims have asked, recreate the StatefulSet, without its pods, because its
 * claim templates cannot be changed; wait until the volumes have grown.
 */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { ErrorCode } from '../../../src/errors.ts'
import { records } from '../../api/annotations.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { StorageStatus } from '../../api/status.ts'
import type { Workload } from '../../api.ts'
import {
  claimName,
  networkOf,
  type Volume,
  volumes,
  wantedOrdinals,
  wantedReplicas,
} from '../../resources/names/names.ts'
import { largerSize } from '../../resources/names/quantity.ts'
import { needsStart, type PlacedClaim } from '../observe/claim.ts'
import { type HealthView, hasStarted } from '../observe/health-view.ts'
import { previousMessage } from '../statements/conditions.ts'
import type { Problem, Statement } from '../statements/problem.ts'
import { listed } from '../statements/sentences.ts'
import type { ObservedState } from './observed-state.ts'
import { startText } from './resize-restart.ts'

export type StorageStatement = Statement<ReasonOf<'StorageReady'>>

/** The size to ask for on a claim: never less than it has. */
export function sizeOf(resource: Workload, { volume, claim }: PlacedClaim): string {
  return largerSize(resource.spec.storage[volume].size, claim.requested)
}

/** Claims that have to ask for more than they do. */
export function growing(resource: Workload, claims: readonly PlacedClaim[]): PlacedClaim[] {
  return claims.filter(({ volume, claim }) =>
    isSmaller(claim.requested, resource.spec.storage[volume].size),
  )
}

/**
 * Whether the StatefulSet has to be recreated with larger claim templates: they ask for less than is
 * wanted, and no claim does any more.
 */
export function needsLargerTemplates(
  resource: Workload,
  templates: readonly V1PersistentVolumeClaim[],
  claims: readonly PlacedClaim[],
): boolean {
  const isSmall = templates.some(({ metadata, spec }) => {
    const volume = volumes.find((name) => name === metadata?.name)
    if (volume === undefined) return false
    const size = spec?.resources?.requests?.['storage'] ?? '0'
    return isSmaller(size, resource.spec.storage[volume].size)
  })
  return isSmall && growing(resource, claims).length === 0
}

/**
 * The largest size that claims of each volume ask for, or what the status says while there are none: a
 * spec whose size was refused may go back to it (the rule is in `../../api.ts`).
 */
export function keptSizes(resource: Workload, claims: readonly PlacedClaim[]): StorageStatus {
  const found = volumes.flatMap((volume): [Volume, string][] => {
    const sizes = claims.filter((one) => one.volume === volume).map(({ claim }) => claim.requested)
    const size = sizes.length === 0 ? resource.status?.storage?.[volume] : sizes.reduce(largerSize)
    return size === undefined ? [] : [[volume, size]]
  })
  return Object.fromEntries(found)
}

/** The claim of another chain, if there is one. */
export function chainProblem(resource: Workload, claims: readonly PlacedClaim[]): Problem | null {
  const { metadata, kind } = resource
  const network = networkOf(resource)
  const names = claims.flatMap(({ claim: { name, annotations } }) => {
    const held = annotations[records.network] ?? network
    return held === network ? [] : [`${name} (${held})`]
  })
  if (names.length === 0) return null
  return {
    reason: 'ChainMismatch',
    message: `${kind} ${metadata.name} is for ${network}, but these claims hold another chain: ${names.join(', ')}. Delete them (their content is then gone), or create the ${kind} under another name. No pod is touched meanwhile.`,
  }
}

/** What is known of the volumes of wanted replicas, and of the pods that use them. */
type StorageFacts = Pick<ObservedState, 'observedMs' | 'claims' | 'pods' | 'views'>

/** What to say about storage; `refused` is how a claim that asked for more was refused. */
export function storageStatement(
  resource: Workload,
  facts: StorageFacts,
  refused: StorageStatement | null,
): StorageStatement {
  const { claims, views } = facts
  if (wantedReplicas(resource) === 0) return { reason: 'NotNeeded', message: 'No pods are wanted.' }
  if (refused !== null) return refused
  return (
    unboundStatement(resource, claims) ??
    failedStatement(claims) ??
    growthStatement(resource, facts) ??
    nearlyFullStatement(resource, views) ?? { reason: 'Bound', message: 'All claims are bound.' }
  )
}

function unboundStatement(
  resource: Workload,
  claims: readonly PlacedClaim[],
): StorageStatement | null {
  const wanted = wantedOrdinals(resource).flatMap((ordinal) =>
    volumes.map((volume) => claimName(resource, volume, ordinal)),
  )
  const there = claims.map(({ claim }) => claim.name)
  const missing = wanted.filter((name) => !there.includes(name))
  const reported = [
    unboundText(resource, claims),
    ...(missing.length === 0 ? [] : [`Not made yet: ${listed(missing)}.`]),
  ].filter((text) => text !== '')
  return reported.length === 0 ? null : { reason: 'Pending', message: reported.join(' ') }
}

function unboundText({ metadata }: Workload, claims: readonly PlacedClaim[]): string {
  const unbound = claims.filter(({ claim }) => !claim.isBound)
  const [first] = unbound
  if (first === undefined) return ''
  const names = unbound.map(
    ({ claim: { name, storageClassName } }) => `${name} of ${classText(storageClassName)}`,
  )
  const together = unbound.filter(({ ordinal }) => ordinal === first.ordinal)
  const described = together.map(({ claim }) => claim.name).join(' ')
  return `Not bound: ${listed(names)}. Where that stays so, kubectl describe pvc ${described} --namespace ${metadata.namespace} says why.`
}

/** A claim that names none is given the default class, where the cluster has one. */
function classText(name: string | null): string {
  return name ? `class ${name}` : 'no class'
}

function failedStatement(claims: readonly PlacedClaim[]): StorageStatement | null {
  for (const { claim } of claims) {
    const reported =
      claim.conditions['ControllerResizeError'] ?? claim.conditions['NodeResizeError'] ?? null
    const isInfeasible = claim.resizeStatus?.endsWith('Infeasible') === true
    if (reported === null && !isInfeasible) continue
    const message = `Claim ${claim.name} cannot grow to ${claim.requested}: ${reported ?? claim.resizeStatus}. Free or add storage; the storage’s own log may say more.`
    return { reason: 'ExpansionFailed', message }
  }
  return null
}

function growthStatement(resource: Workload, facts: StorageFacts): StorageStatement | null {
  const small = facts.claims.filter(({ volume, claim }) =>
    isSmaller(claim.capacity ?? '0', resource.spec.storage[volume].size),
  )
  const waiting = small.filter(({ claim }) => needsStart(claim, facts.observedMs))
  const others = small.filter((placed) => !waiting.includes(placed))
  const growth = others.length === 0 ? '' : `Being made larger: ${sizesText(others)}.`
  if (waiting.length > 0) {
    const message = `The file system grows when the pod is next started: ${sizesText(waiting)}. ${startText(resource, waiting, facts)} ${growth}`
    return { reason: 'FileSystemResizePending', message: message.trimEnd() }
  }
  return others.length > 0 ? { reason: 'Expanding', message: growth } : null
}

function sizesText(claims: readonly PlacedClaim[]): string {
  return listed(claims.map(({ claim }) => `${claim.name} (${claim.capacity})`))
}

function isSmaller(size: string, than: string): boolean {
  return largerSize(size, than) !== size
}

/** By ordinal, of running pods: null where one does not answer, undefined before it was asked. */
export type Views = ReadonlyMap<number, HealthView | null | undefined>

/** What such a program says. It is about the volume alone: everything works on. */
const nearlyFullCode: ErrorCode = 'STORE_NEARLY_FULL'

/** Which volumes are nearly full; null for none. While a replica cannot be asked it stays as it was. */
function nearlyFullStatement(resource: Workload, views: Views): Statement<'NearlyFull'> | null {
  const ordinals = wantedOrdinals(resource)
  const filling = ordinals.filter((ordinal) =>
    views.get(ordinal)?.errors.some(({ code }) => code === nearlyFullCode),
  )
  if (filling.length > 0) {
    const names = listed(filling.map((ordinal) => claimName(resource, 'data', ordinal)))
    const message = `Little room is left: ${names}. Make spec.storage.data.size larger where the StorageClass allows it, or ${fewerBlocks(resource)}, with which the stores grow no further.`
    return { reason: 'NearlyFull', message }
  }
  if (ordinals.every((ordinal) => hasStarted(views.get(ordinal)))) return null
  const message = previousMessage(resource, 'StorageReady', 'NearlyFull')
  return message === null ? null : { reason: 'NearlyFull', message }
}

function fewerBlocks({ spec }: Workload): string {
  return spec.pruning.enabled
    ? 'lower spec.pruning.maxBlocks'
    : 'set spec.pruning.enabled with spec.pruning.maxBlocks below the number of blocks that are stored'
}
