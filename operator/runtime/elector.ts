/**
 * Elects one leader among operators by a Lease, as client-go does: who holds it renews it; the others take it
 * when they have not seen it change for its duration. Only local clocks that never go back are compared, so
 * that wrong wall clocks do no harm.
 *
 * A leader that cannot renew in time, because the API server is away or the process was stopped, writes nothing
 * until it has renewed: that only succeeds where no other process wrote to the Lease. If one did, it ends.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { V1LeaseSpec } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { ServiceError } from '../../src/errors.ts'
import type { KubernetesApi } from './client/api.ts'
import { hasCode } from './client/api-error.ts'
import type { Fence } from './client/fence.ts'
import type { KubernetesObject } from './client/kubernetes-object.ts'
import { toMicroTime } from './client/micro-time.ts'
import { builtinTypes, type ObjectAddress } from './client/resource-type.ts'
import { untilAborted } from './client/until-aborted.ts'
import type { ElectionMetrics } from './metrics.ts'

interface ElectorOptions {
  readonly namespace: string
  /** Name of the Lease. */
  readonly name: string
  /** Another one for each process. */
  readonly identity: string
  /** How long others wait for a renewal. */
  readonly leaseMs: number
  /** How long after a renewal we still write; less than the lease. */
  readonly renewDeadlineMs: number
  /** Pause between attempts. */
  readonly retryMs: number
}

interface ElectorParts {
  /** Without the fence, which is for everything else. */
  readonly api: Pick<KubernetesApi, 'find' | 'create' | 'replace'>
  readonly fence: Fence
  readonly log: Logger
  readonly metrics: ElectionMetrics
  /** Called once, with OPERATOR_LEADERSHIP_LOST: the process is to end. */
  readonly onLost: (error: ServiceError) => void
}

export interface Elector {
  /** Resolves once we are the leader; rejects with the signal's reason. */
  elected(signal: AbortSignal): Promise<void>
  /** Milliseconds since the last attempt ended, whatever came of it. */
  idleForMs(): number
  /** Gives the Lease back, if it is ours; call it when nothing writes any more. */
  close(): Promise<void>
}

/** A Lease as it is on the wire: its times are text. */
interface Lease extends KubernetesObject {
  readonly spec?: Omit<V1LeaseSpec, 'acquireTime' | 'renewTime'> & {
    readonly acquireTime?: string | undefined
    readonly renewTime?: string | undefined
  }
}

/** The Lease as it was seen last, and when it was first seen like that. */
interface Seen {
  readonly lease: Lease
  readonly sinceMs: number
}

/** Where the election stands, as this process knows it. */
interface Election {
  readonly options: ElectorOptions
  readonly parts: ElectorParts
  readonly address: ObjectAddress
  readonly elected: PromiseWithResolvers<void>
  seen: Seen | null
  isLeader: boolean
  /** A leader that could not renew in time, and writes nothing until it has. */
  isLate: boolean
  isLost: boolean
  /** When the last attempt ended. */
  endedAtMs: number
}

const jitter = 0.2

/** Begins to compete at once. */
export function openElector(options: ElectorOptions, parts: ElectorParts): Elector {
  const election: Election = {
    options,
    parts,
    address: { type: builtinTypes.Lease, namespace: options.namespace, name: options.name },
    elected: Promise.withResolvers<void>(),
    seen: null,
    isLeader: false,
    isLate: false,
    isLost: false,
    endedAtMs: performance.now(),
  }
  showMaster(election, false)
  const closing = new AbortController()
  const competing = compete(election, closing.signal)
  return {
    elected: (signal) => untilAborted(election.elected.promise, signal),
    idleForMs: () => performance.now() - election.endedAtMs,
    async close() {
      closing.abort()
      await competing
      await release(election)
    },
  }
}

async function compete(election: Election, closing: AbortSignal): Promise<void> {
  const { retryMs } = election.options
  while (!closing.aborted && !election.isLost) {
    await attempt(election)
    const pauseMs = election.isLeader ? retryMs : retryMs * (1 + Math.random() * jitter)
    await sleep(pauseMs, undefined, { signal: closing }).catch(() => undefined)
  }
}

async function attempt(election: Election): Promise<void> {
  const { renewDeadlineMs } = election.options
  const startedMs = performance.now()
  const limit = AbortSignal.timeout(renewDeadlineMs / 2)
  try {
    if (await acquireOrRenew(election, limit)) won(election, startedMs + renewDeadlineMs)
    else if (election.isLeader) lost(election)
  } catch (error) {
    await failed(election, error, limit)
  }
  if (election.isLeader && !election.parts.fence.isOpen()) late(election)
  election.endedAtMs = performance.now()
}

/** True where the Lease is ours now. */
async function acquireOrRenew(election: Election, signal: AbortSignal): Promise<boolean> {
  const { address, options, parts } = election
  if (!election.isLeader || election.seen === null) {
    const found = await parts.api.find<Lease>(address, { signal })
    if (found === null) {
      const wanted = leaseOf(options, specAfter(options, undefined))
      remember(election, await parts.api.create<Lease>(address.type, wanted, { signal }))
      return true
    }
    remember(election, found)
  }
  const { seen } = election
  if (seen === null || !isFree(options, seen)) return false
  const wanted = { ...seen.lease, spec: specAfter(options, seen.lease.spec) }
  remember(election, await parts.api.replace<Lease>(address.type, wanted, { signal }))
  return true
}

function remember(election: Election, lease: Lease): void {
  const known = election.seen?.lease.metadata?.resourceVersion
  if (known !== lease.metadata?.resourceVersion)
    election.seen = { lease, sinceMs: performance.now() }
}

function isFree(
  { identity, leaseMs }: ElectorOptions,
  { lease: { spec }, sinceMs }: Seen,
): boolean {
  const holder = spec?.holderIdentity ?? ''
  if (holder === '' || holder === identity) return true
  const seconds = spec?.leaseDurationSeconds ?? leaseMs / 1_000
  return performance.now() - sinceMs > seconds * 1_000
}

function specAfter(
  { identity, leaseMs }: ElectorOptions,
  spec: Lease['spec'],
): NonNullable<Lease['spec']> {
  const now = toMicroTime(new Date())
  const isOurs = spec?.holderIdentity === identity
  const transitions = spec?.leaseTransitions ?? 0
  return {
    ...spec,
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseMs / 1_000),
    acquireTime: isOurs ? spec.acquireTime : now,
    renewTime: now,
    leaseTransitions: isOurs || spec === undefined ? transitions : transitions + 1,
  }
}

function won(election: Election, untilMs: number): void {
  const { options, parts } = election
  parts.fence.openUntil(untilMs)
  showMaster(election, true)
  const { name, identity } = options
  if (election.isLate) parts.log.info({ lease: name }, 'the Lease is renewed, writing goes on')
  election.isLate = false
  if (election.isLeader) return
  election.isLeader = true
  parts.log.info({ lease: name, identity }, 'became the leader')
  election.elected.resolve()
}

function late(election: Election): void {
  if (election.isLate) return
  election.isLate = true
  showMaster(election, false)
  const { options, parts } = election
  const facts = { lease: options.name }
  parts.log.warn(facts, 'the Lease is not renewed, nothing is written until it is')
}

function lost(election: Election): void {
  election.isLost = true
  election.isLeader = false
  const { options, parts } = election
  const { name, identity } = options
  parts.fence.shut()
  showMaster(election, false)
  parts.onLost(
    new ServiceError('OPERATOR_LEADERSHIP_LOST', `another operator took the Lease ${name}`, {
      facts: { lease: name, identity },
      remedy: 'Nothing: another operator goes on, and this one starts again as its stand-by.',
    }),
  )
}

async function failed(election: Election, error: unknown, limit: AbortSignal): Promise<void> {
  const { options, parts } = election
  if (hasCode(error, 'OPERATOR_API_NOT_FOUND')) election.seen = null
  const isRace = hasCode(error, 'OPERATOR_API_CONFLICT', 'OPERATOR_API_EXISTS')
  if (isRace) {
    if (election.isLeader) await refetch(election, limit)
    return
  }
  const facts = { err: error, lease: options.name }
  parts.log.warn(facts, 'the Lease cannot be acquired or renewed')
}

/** A write may have arrived without its answer: then the Lease is ours, with another version. */
async function refetch(election: Election, signal: AbortSignal): Promise<void> {
  const { address, options, parts } = election
  const found = await parts.api.find<Lease>(address, { signal }).catch(() => null)
  if (found === null) return
  remember(election, found)
  if (found.spec?.holderIdentity !== options.identity) lost(election)
}

async function release(election: Election): Promise<void> {
  const { address, options, parts, seen } = election
  parts.fence.shut()
  if (!election.isLeader || seen === null) return
  election.isLeader = false
  showMaster(election, false)
  const spec = { ...seen.lease.spec, holderIdentity: '', leaseDurationSeconds: 1 }
  const wanted = { ...seen.lease, spec: { ...spec, renewTime: toMicroTime(new Date()) } }
  const facts = { lease: options.name }
  try {
    const signal = AbortSignal.timeout(options.retryMs)
    await parts.api.replace<Lease>(address.type, wanted, { signal })
    parts.log.info(facts, 'released the Lease')
  } catch (error) {
    parts.log.warn({ err: error, ...facts }, 'the Lease could not be released')
  }
}

function showMaster({ options: { name }, parts }: Election, isMaster: boolean): void {
  parts.metrics.master.set({ name }, isMaster ? 1 : 0)
}

function leaseOf({ namespace, name }: ElectorOptions, spec: NonNullable<Lease['spec']>): Lease {
  return { metadata: { namespace, name }, spec }
}
