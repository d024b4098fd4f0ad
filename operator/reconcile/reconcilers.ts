/** The reconciles of all kinds with what they share. */
import type { Logger } from 'pino'
import { viewKind, workloadKinds } from '../api/resource-kinds.ts'
import type { Host, Resource } from '../api.ts'
import type { KubernetesApi } from '../runtime/client/api.ts'
import { keyOf } from '../runtime/client/resource-type.ts'
import type { Reconcile } from '../runtime/controller.ts'
import type { EventRecorder } from '../runtime/event-recorder.ts'
import type { StatusWriter } from '../runtime/status-writer.ts'
import { askedViews } from './evaluate/host-views.ts'
import type { ReconcileOptions } from './fetch/kind-logic.ts'
import { createResyncInterval } from './fetch/resync-interval.ts'
import { generatorLogic } from './generator-logic.ts'
import { createHostLogic } from './host-logic.ts'
import { createHostPlaces } from './level-views.ts'
import type { ClusterView } from './observe/cluster-view.ts'
import { fetchText, openHealthObserver } from './observe/health-observer.ts'
import type { Informer } from './observe/informer.ts'
import { parseObservedName } from './observe/observed-name.ts'
import { createReconcile } from './reconcile.ts'
import { createViewReconcile } from './view-reconcile.ts'
import { type Controllers, startWatches, viewKeysOf } from './watch-mappings.ts'

interface ReconcilersOptions extends ReconcileOptions {
  /** Name of this operator in `status.managedBy`: no other installation has it. */
  readonly self: string
  /** How often each of few resources is reconciled though nothing changed. */
  readonly resyncMs: number
}

interface ReconcilersParts {
  readonly api: KubernetesApi
  readonly view: ClusterView
  readonly status: StatusWriter
  readonly events: EventRecorder
  readonly log: Logger
}

export interface Reconcilers {
  /** What a controller of each kind has to call. */
  readonly reconcile: Readonly<Record<Resource['kind'], Reconcile>>
  /** Adds the keys of all resources to these controllers, and those of what changes from now on. */
  startWatches(controllers: Controllers): void
  close(): Promise<void>
}

export function openReconcilers(
  options: ReconcilersOptions,
  { api, view, status, events, log }: ReconcilersParts,
): Reconcilers {
  let controllers: Controllers | null = null
  const addViewsOf = (hostKey: string): void => {
    for (const one of viewKeysOf(view, hostKey)) controllers?.View.add(one, 'owned')
  }
  const observer = openHealthObserver(
    {},
    {
      log: log.child({ part: 'observer' }),
      fetchText,
      onChange: (owner) => {
        const { kind, key } = parseObservedName(owner)
        controllers?.[kind].add(key, 'owned')
        if (kind === 'Host') addViewsOf(key)
      },
    },
  )
  const { Generator: generators, Host: hosts } = view.resources
  const count = (): number =>
    Object.values(view.resources).reduce((sum, informer) => sum + sizeOf(informer), 0)
  const places = createHostPlaces(view, ({ metadata: { namespace, name } }) =>
    addViewsOf(keyOf(namespace, name)),
  )
  const hostViews = {
    placed: places.placed,
    asked: (host: Host) => askedViews(view, host),
  }
  const shared = {
    options,
    self: options.self,
    api,
    view,
    observer,
    status,
    events,
    now: () => new Date(),
    nowMs: () => performance.now(),
    resync: createResyncInterval(options.resyncMs, count),
  }
  return {
    reconcile: {
      Generator: createReconcile(generatorLogic, {
        ...shared,
        informer: generators,
        type: workloadKinds.Generator,
      }),
      Host: createReconcile(createHostLogic(generators, hostViews), {
        ...shared,
        informer: hosts,
        type: workloadKinds.Host,
      }),
      View: createViewReconcile({
        ...shared,
        informer: view.resources.View,
        type: viewKind,
        isLeft: places.isLeft,
      }),
    },
    startWatches: (given) => {
      controllers = given
      startWatches(view, given)
    },
    close: () => observer.close(),
  }
}

function sizeOf(informer: Informer<unknown>): number {
  let size = 0
  for (const _ of informer.list()) size += 1
  return size
}
