/** The reconciles of both kinds with what they share. */
import type { Logger } from 'pino'
import { generatorKind, hostKind } from '../api/resource-kinds.ts'
import type { Resource } from '../api.ts'
import type { KubernetesApi } from '../runtime/api.ts'
import type { Reconcile } from '../runtime/controller.ts'
import type { EventRecorder } from '../runtime/event-recorder.ts'
import type { StatusWriter } from '../runtime/status-writer.ts'
import { type ClusterView, resourceType } from './cluster-view.ts'
import { generatorLogic } from './generator-logic.ts'
import { fetchText } from './health/fetch-text.ts'
import { openHealthObserver } from './health/health-observer.ts'
import { createHostLogic } from './host-logic.ts'
import type { ReconcileOptions } from './kind-logic.ts'
import { createLookPace } from './look-pace.ts'
import type { Mirror } from './mirror.ts'
import { createReconcile } from './reconcile.ts'
import { type Controllers, routeChanges } from './routes.ts'

export interface ReconcilersParts {
  readonly api: KubernetesApi
  readonly view: ClusterView
  readonly status: StatusWriter
  readonly events: EventRecorder
  readonly log: Logger
}

export interface Reconcilers {
  /** What a controller of each kind has to call. */
  readonly reconcile: Readonly<Record<Resource['kind'], Reconcile>>
  /** All keys of a kind, for the resync. */
  keys(kind: Resource['kind']): Iterable<string>
  /** Has these controllers told of all there is, and of changes from now on. */
  route(controllers: Controllers): void
  close(): Promise<void>
}

export function openReconcilers(
  options: ReconcileOptions,
  { api, view, status, events, log }: ReconcilersParts,
): Reconcilers {
  let controllers: Controllers | null = null
  let unroute: (() => void) | null = null
  const observer = openHealthObserver(
    {},
    {
      log: log.child({ part: 'observer' }),
      fetchText,
      onChange: (owner) => {
        const [kind, key = ''] = owner.split(' ')
        controllers?.[kind === 'Generator' ? 'Generator' : 'Host'].add(key, 'owned')
      },
    },
  )
  const count = (): number => sizeOf(view.generators) + sizeOf(view.hosts)
  const shared = {
    options,
    api,
    view,
    observer,
    status,
    events,
    now: () => new Date(),
    nowMs: () => performance.now(),
    pace: createLookPace(count),
  }
  return {
    reconcile: {
      Generator: createReconcile(generatorLogic, {
        ...shared,
        mirror: view.generators,
        type: resourceType(generatorKind),
      }),
      Host: createReconcile(createHostLogic(view.generators), {
        ...shared,
        mirror: view.hosts,
        type: resourceType(hostKind),
      }),
    },
    keys: (kind) => {
      const mirror = kind === 'Generator' ? view.generators : view.hosts
      return [...mirror.list()].map(({ key }) => key)
    },
    route: (given) => {
      controllers = given
      unroute = routeChanges(view, given)
    },
    close: async () => {
      unroute?.()
      await observer.close()
    },
  }
}

function sizeOf(mirror: Mirror<unknown>): number {
  let size = 0
  for (const _ of mirror.list()) size += 1
  return size
}
