/** Follows the Hosts of some namespaces as anybody can, by a watch of their statuses. */
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { hostKind } from '../../../operator/api/resource-kinds.ts'
import type { Host } from '../../../operator/api.ts'
import { openReflector } from '../../../operator/runtime/cache/reflector.ts'
import { openApi } from '../../../operator/runtime/client/api.ts'
import { openConnection } from '../../../operator/runtime/client/connection.ts'
import { openRuntimeMetrics } from '../../../operator/runtime/metrics.ts'

/** How far a Host is. */
interface HostState {
  readonly namespace: string
  readonly name: string
  /** Whether the condition Ready is True, and speaks of the spec there is now. */
  readonly isReady: boolean
  readonly observedGeneration: number
}

export interface HostWatch {
  /** Resolves once this holds of all Hosts there are; throws after `maxMs`. */
  until(holds: (hosts: readonly HostState[]) => boolean, maxMs: number): Promise<void>
  close(): Promise<void>
}

interface HostWatchOptions {
  readonly namespaces: readonly string[]
  readonly kubeconfig: string
}

export async function openHostWatch(
  { namespaces, kubeconfig }: HostWatchOptions,
  { signal }: { readonly signal: AbortSignal },
): Promise<HostWatch> {
  const log = pino({ level: 'silent' })
  const metrics = openRuntimeMetrics(new Registry())
  const pod = { serviceHost: null, servicePort: null, serviceAccount: '' }
  const connection = await openConnection({ kubeconfig, ...pod })
  const name = 'viewmesh-bench'
  const api = openApi({ fieldManager: name, userAgent: name }, { connection, log, metrics })
  const reflector = openReflector<Host, HostState>(
    { type: hostKind, keep: stateOf },
    { api, log, metrics },
  )
  const states = (): HostState[] =>
    [...reflector.list()].flatMap(({ value }) =>
      namespaces.includes(value.namespace) ? [value] : [],
    )
  return {
    until: (holds, maxMs) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (!holds(states())) return
          end()
          resolve()
        }
        const fail = (error: unknown): void => {
          end()
          reject(error)
        }
        const timer = setTimeout(() => fail(tooLate(states(), maxMs)), maxMs)
        const onAbort = (): void => fail(signal.reason)
        signal.addEventListener('abort', onAbort)
        const unlisten = reflector.onChange(check)
        const end = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', onAbort)
          unlisten()
        }
        check()
      }),
    close: async () => {
      await reflector.close()
      await api.close()
    },
  }
}

function stateOf({ metadata, status }: Host): HostState {
  const observedGeneration = status?.observedGeneration ?? -1
  const ready = (status?.conditions ?? []).find(({ type }) => type === 'Ready')
  const isCurrent = observedGeneration >= (metadata.generation ?? 0)
  const isReady = isCurrent && ready?.status === 'True'
  return { namespace: metadata.namespace, name: metadata.name, isReady, observedGeneration }
}

function tooLate(hosts: readonly HostState[], maxMs: number): Error {
  const ready = hosts.filter(({ isReady }) => isReady).length
  return new Error(`after ${maxMs / 1_000} s ${ready} of ${hosts.length} Hosts are ready`)
}
