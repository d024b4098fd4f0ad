/**
 * Elects one leader among operators by a Lease, as client-go does: who holds it renews it; the others take it
 * when they have not seen it change for its duration. Only local clocks that never go back are compared, so
 * that wrong wall clocks do no harm.
 *
 * A leader that cannot renew in time, because the API server is away or the process was stopped, writes nothing
 * until it has renewed: that only succeeds where nobody else wrote to the Lease. If somebody did, it ends.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { V1LeaseSpec } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { ServiceError } from '../../src/errors.ts'
import type { KubernetesApi } from './api.ts'
import { hasCode } from './api-error.ts'
import type { Fence } from './fence.ts'
import type { KubernetesObject } from './kubernetes-object.ts'
import type { ElectionMetrics } from './metrics.ts'
import { toMicroTime } from './micro-time.ts'
import { builtinTypes, type ObjectAddress } from './resource-type.ts'
import { untilAborted } from './until-aborted.ts'

export interface ElectorOptions {
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

export interface ElectorParts {
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

const jitter = 0.2

/** Begins to compete at once. */
export function openElector(options: ElectorOptions, parts: ElectorParts): Elector {
  const { identity, leaseMs, renewDeadlineMs, retryMs } = options
  const { api, fence, log, metrics } = parts
  const address: ObjectAddress = {
    type: builtinTypes.Lease,
    namespace: options.namespace,
    name: options.name,
  }
  const closing = new AbortController()
  const elected = Promise.withResolvers<void>()
  let seen: Seen | null = null
  let isLeader = false
  let isLate = false
  let isLost = false
  let endedAtMs = performance.now()
  metrics.master.set({ name: options.name }, 0)

  const see = (lease: Lease): void => {
    const isChanged = seen?.lease.metadata?.resourceVersion !== lease.metadata?.resourceVersion
    if (seen === null || isChanged) seen = { lease, sinceMs: performance.now() }
  }
  const isFree = ({ lease: { spec }, sinceMs }: Seen): boolean => {
    const holder = spec?.holderIdentity ?? ''
    if (holder === '' || holder === identity) return true
    const seconds = spec?.leaseDurationSeconds ?? leaseMs / 1_000
    return performance.now() - sinceMs > seconds * 1_000
  }
  const specAfter = (spec: Lease['spec']): NonNullable<Lease['spec']> => {
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
  /** True where the Lease is ours now. */
  const tryOnce = async (signal: AbortSignal): Promise<boolean> => {
    if (!isLeader || seen === null) {
      const found = await api.find<Lease>(address, { signal })
      if (found === null) {
        see(
          await api.create<Lease>(address.type, leaseOf(address, specAfter(undefined)), { signal }),
        )
        return true
      }
      see(found)
    }
    if (seen === null || !isFree(seen)) return false
    const { lease } = seen
    const wanted = { ...lease, spec: specAfter(lease.spec) }
    see(await api.replace<Lease>(address.type, wanted, { signal }))
    return true
  }
  const won = (startedMs: number): void => {
    fence.openUntil(startedMs + renewDeadlineMs)
    metrics.master.set({ name: options.name }, 1)
    if (isLate) log.info({ lease: options.name }, 'the Lease is renewed, writing goes on')
    isLate = false
    if (isLeader) return
    isLeader = true
    log.info({ lease: options.name, identity }, 'became the leader')
    elected.resolve()
  }
  const late = (): void => {
    if (isLate) return
    isLate = true
    metrics.master.set({ name: options.name }, 0)
    log.warn({ lease: options.name }, 'the Lease is not renewed, nothing is written until it is')
  }
  const lost = (): void => {
    if (isLost) return
    isLost = true
    isLeader = false
    fence.shut()
    metrics.master.set({ name: options.name }, 0)
    parts.onLost(
      new ServiceError(
        'OPERATOR_LEADERSHIP_LOST',
        `another operator took the Lease ${options.name}`,
        {
          facts: { lease: options.name, identity },
          remedy: 'Nothing: another operator goes on, and this one starts again as its stand-by.',
        },
      ),
    )
  }
  const attempt = async (): Promise<void> => {
    const startedMs = performance.now()
    const limit = AbortSignal.timeout(renewDeadlineMs / 2)
    try {
      if (await tryOnce(limit)) won(startedMs)
      else if (isLeader) lost()
    } catch (error) {
      await failed(error, limit)
    }
    if (isLeader && !fence.isOpen()) late()
    endedAtMs = performance.now()
  }
  const failed = async (error: unknown, limit: AbortSignal): Promise<void> => {
    if (hasCode(error, 'OPERATOR_API_NOT_FOUND')) seen = null
    const isRace = hasCode(error, 'OPERATOR_API_CONFLICT', 'OPERATOR_API_EXISTS')
    if (!isRace) log.warn({ err: error, lease: options.name }, 'the Lease cannot be had or renewed')
    else if (isLeader) await lookAgain(limit)
  }
  /** A write may have arrived without its answer: then the Lease is ours, with another version. */
  const lookAgain = async (signal: AbortSignal): Promise<void> => {
    const found = await api.find<Lease>(address, { signal }).catch(() => null)
    if (found === null) return
    see(found)
    if (found.spec?.holderIdentity !== identity) lost()
  }
  const compete = async (): Promise<void> => {
    while (!closing.signal.aborted && !isLost) {
      await attempt()
      const pauseMs = isLeader ? retryMs : retryMs * (1 + Math.random() * jitter)
      await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }
  const competing = compete()
  const release = async (): Promise<void> => {
    fence.shut()
    if (!isLeader || seen === null) return
    isLeader = false
    metrics.master.set({ name: options.name }, 0)
    const { lease } = seen
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 }
    const wanted = { ...lease, spec: { ...spec, renewTime: toMicroTime(new Date()) } }
    try {
      await api.replace<Lease>(address.type, wanted, { signal: AbortSignal.timeout(retryMs) })
      log.info({ lease: options.name }, 'gave the Lease back')
    } catch (error) {
      log.warn({ err: error, lease: options.name }, 'the Lease could not be given back')
    }
  }
  return {
    elected: (signal) => untilAborted(elected.promise, signal),
    idleForMs: () => performance.now() - endedAtMs,
    async close() {
      closing.abort()
      await competing
      await release()
    },
  }
}

function leaseOf({ namespace, name }: ObjectAddress, spec: NonNullable<Lease['spec']>): Lease {
  return { metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, spec }
}
