/** Follows objects of some namespaces as anybody can, by a watch. */
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { openReflector, type ReflectorOptions } from '../../../operator/runtime/cache/reflector.ts'
import { openApi } from '../../../operator/runtime/client/api.ts'
import { openConnection } from '../../../operator/runtime/client/connection.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { openRuntimeMetrics } from '../../../operator/runtime/metrics.ts'

export interface StateWatch<S> {
  /**
   * Resolves once this holds of what is kept of all objects there are; after `maxMs` throws what `describe` says of
   * them.
   */
  until(holds: (states: readonly S[]) => boolean, maxMs: number): Promise<void>
  close(): Promise<void>
}

interface StateWatchOptions<T extends KubernetesObject, S>
  extends Pick<ReflectorOptions<T, S>, 'type' | 'labelSelector' | 'keep'> {
  readonly namespaces: readonly string[]
  readonly kubeconfig: string
  /** Says how far they are, as in `3 of 5 are ready`. */
  readonly describe: (states: readonly S[]) => string
}

export async function openStateWatch<T extends KubernetesObject, S>(
  { namespaces, kubeconfig, describe, ...followed }: StateWatchOptions<T, S>,
  { signal }: { readonly signal: AbortSignal },
): Promise<StateWatch<S>> {
  const log = pino({ level: 'silent' })
  const metrics = openRuntimeMetrics(new Registry())
  const pod = { serviceHost: null, servicePort: null, serviceAccount: '' }
  const connection = await openConnection({ kubeconfig, ...pod })
  const name = 'viewmesh-bench'
  const api = openApi({ fieldManager: name, userAgent: name }, { connection, log, metrics })
  const reflectors = namespaces.map((namespace) =>
    openReflector<T, S>({ ...followed, namespace }, { api, log, metrics }),
  )
  const states = (): S[] =>
    reflectors.flatMap((reflector) => [...reflector.list()].map(({ value }) => value))
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
        const tooLate = (): Error => new Error(`after ${maxMs / 1_000} s ${describe(states())}`)
        const timer = setTimeout(() => fail(tooLate()), maxMs)
        const onAbort = (): void => fail(signal.reason)
        signal.addEventListener('abort', onAbort)
        const unlisten = reflectors.map((reflector) => reflector.onChange(check))
        const end = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', onAbort)
          for (const one of unlisten) one()
        }
        check()
      }),
    close: async () => {
      await Promise.all(reflectors.map((reflector) => reflector.close()))
      await api.close()
    },
  }
}
