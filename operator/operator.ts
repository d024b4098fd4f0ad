/** The operator: what it follows, who of several works, and its controllers, opened in this order. */
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { openHttpServer } from '../src/service/health/http-server.ts'
import { type Metrics, openMetrics } from '../src/service/metrics.ts'
import type { Running } from '../src/service/run.ts'
import { readVersion } from '../src/service/version.ts'
import { resourceKinds } from './api/resource-kinds.ts'
import type { Resource } from './api.ts'
import { openClusterView } from './reconcile/observe/cluster-view.ts'
import { declareResourceCounts } from './reconcile/observe/resource-counts.ts'
import { openReconcilers, type Reconcilers } from './reconcile/reconcilers.ts'
import { openReflector, type Reflector, type ReflectorOptions } from './runtime/cache/reflector.ts'
import { declareUnread, unreadProblem, unreadRemark } from './runtime/cache/unread.ts'
import { writeThrough } from './runtime/cache/write-through.ts'
import { openApi } from './runtime/client/api.ts'
import { type Connection, openConnection } from './runtime/client/connection.ts'
import { createFence, type Fence } from './runtime/client/fence.ts'
import type { KubernetesObject } from './runtime/client/kubernetes-object.ts'
import type { WriteGuard } from './runtime/client/requests.ts'
import { type Controller, openController } from './runtime/controller.ts'
import { type Elector, openElector } from './runtime/elector.ts'
import { openEventRecorder } from './runtime/event-recorder.ts'
import { openRuntimeMetrics, type RuntimeMetrics } from './runtime/metrics.ts'
import { type HealthChecks, healthRoutes, watchLoop } from './runtime/operator-health.ts'
import { createStatusWriter } from './runtime/status-writer.ts'
import type { OperatorSettings } from './settings.ts'

export interface OperatorParts {
  readonly log: Logger
  readonly running: Running
  /** KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly service: { readonly host: string | null; readonly port: string | null }
  /** Further guards of writes. */
  readonly guards: readonly WriteGuard[]
}

/** What health and the parts that are opened later share. */
interface State {
  readonly reflectors: Reflector<unknown>[]
  elector: Elector | null
}

const fieldManager = 'viewmesh-operator'
const maxLagMs = 5_000
const minElectorIdleMs = 30_000
const maxSilenceMs = 600_000

/** Resolves once the controllers work; a stand-by waits here for its turn. */
export async function openOperator(
  settings: OperatorSettings,
  parts: OperatorParts,
): Promise<void> {
  const { log, running } = parts
  const identity = `${hostname()}_${process.pid}_${crypto.randomUUID().slice(0, 8)}`
  const metrics = running.own('metrics', openMetrics({ thread: 'main' }))
  const runtimeMetrics = openRuntimeMetrics(metrics.registry)
  const state: State = { reflectors: [], elector: null }
  await openServers(settings, parts, metrics, state)

  const connection = await openConnection({
    kubeconfig: settings.kubeconfig,
    serviceHost: parts.service.host,
    servicePort: parts.service.port,
    serviceAccount: settings.serviceAccount,
  })
  const fence = createFence()
  const userAgent = `viewmesh-operator/${readVersion()}`
  const guards = [
    ...(settings.leaderElect ? [fence.guard] : []),
    ...parts.guards,
    writeThrough(() => state.reflectors),
  ]
  const apiParts = { connection, log, metrics: runtimeMetrics }
  const api = running.own('api', openApi({ fieldManager, userAgent }, { ...apiParts, guards }))
  const openOwnReflector = <T extends KubernetesObject, C>(
    options: ReflectorOptions<T, C>,
  ): Reflector<C> => {
    const reflector = openReflector(options, { api, log, metrics: runtimeMetrics })
    state.reflectors.push(reflector)
    return running.own(`reflector of ${options.type.plural}`, reflector)
  }
  const { watchNamespaces } = settings
  const view = openClusterView(
    openOwnReflector,
    watchNamespaces.length === 0 ? null : watchNamespaces,
  )
  declareResourceCounts(metrics.registry, Object.values(view.resources))
  declareUnread(metrics.registry, () => view.reflectors)
  if (settings.leaderElect) {
    const leaseParts = { ...apiParts, guards: parts.guards }
    const leaseApi = running.own('lease api', openApi({ fieldManager, userAgent }, leaseParts))
    const elect = { api: leaseApi, fence, identity, connection, metrics: runtimeMetrics }
    state.elector = openOwnElector(settings, parts, elect)
    await state.elector.elected(running.signal)
  }
  await Promise.all(view.reflectors.map((reflector) => reflector.initialized(running.signal)))
  const events = openEventRecorder(
    { controller: 'viewmesh.io/operator', instance: identity },
    { api, log },
  )
  running.own('events', events)
  const reconcilers = openReconcilers(
    {
      self: `${leaseNamespaceOf(settings, connection)}/${settings.leaseName}`,
      clusterDomain: settings.clusterDomain,
      resyncMs: settings.resyncMs,
      defaults: {
        images: { generator: settings.generatorImage, host: settings.hostImage },
        toolkitImage: settings.toolkitImage,
        generatorPriorityClass: settings.generatorPriorityClass,
        imagePullSecrets: settings.imagePullSecrets,
        generateNetworkPolicy: settings.generateNetworkPolicy,
        generatePodDisruptionBudget: settings.generatePodDisruptionBudget,
      },
    },
    {
      api,
      view,
      events,
      log,
      status: createStatusWriter({ fieldManager: `${fieldManager}-status` }, { api }),
    },
  )
  running.own('reconcilers', reconcilers)
  startControllers(settings, parts, runtimeMetrics, reconcilers)
  log.info({ namespaces: watchNamespaces.join(','), identity }, 'controllers work')
}

/** Both stop together, within the time there is for stopping. */
function startControllers(
  settings: OperatorSettings,
  { log, running }: OperatorParts,
  metrics: RuntimeMetrics,
  reconcilers: Reconcilers,
): void {
  const open = (kind: Resource['kind']): Controller =>
    openController(
      { name: kind.toLowerCase(), workers: settings.workers },
      { reconcile: reconcilers.reconcile[kind], log, metrics },
    )
  const controllers = Object.fromEntries(
    resourceKinds.map(({ kind }) => [kind, open(kind)]),
  ) as Record<Resource['kind'], Controller>
  const all = Object.values(controllers)
  running.own('controllers', {
    close: async () => {
      await Promise.all(all.map((controller) => controller.close()))
    },
  })
  reconcilers.startWatches(controllers)
  for (const controller of all) controller.start()
}

interface ElectionParts {
  readonly api: ReturnType<typeof openApi>
  readonly fence: Fence
  readonly identity: string
  readonly connection: Connection
  readonly metrics: RuntimeMetrics
}

function openOwnElector(
  settings: OperatorSettings,
  { log, running }: OperatorParts,
  { api, fence, identity, connection, metrics }: ElectionParts,
): Elector {
  const namespace = leaseNamespaceOf(settings, connection)
  const { leaseName: name, leaseMs, renewDeadlineMs, retryMs } = settings
  const elector = openElector(
    { namespace, name, identity, leaseMs, renewDeadlineMs, retryMs },
    { api, fence, log, metrics, onLost: (error) => running.fail(error) },
  )
  return running.own('elector', elector)
}

function leaseNamespaceOf({ leaseNamespace }: OperatorSettings, connection: Connection): string {
  return leaseNamespace ?? connection.namespace
}

/** Health and metrics answer before anything else is there. */
async function openServers(
  settings: OperatorSettings,
  { log, running }: OperatorParts,
  metrics: Metrics,
  state: State,
): Promise<void> {
  const loop = running.own('loop watch', watchLoop())
  const late = (ms: number, maxMs: number): string | null =>
    ms <= maxMs ? null : `nothing happened for ${Math.round(ms / 1_000)} s`
  // An attempt takes half of the deadline at most, and the pause after it is shorter than that.
  const maxElectorIdleMs = Math.max(minElectorIdleMs, 2 * settings.renewDeadlineMs)
  const checks: HealthChecks = {
    live: {
      'event-loop': () => (loop.lagMs() < maxLagMs ? null : 'it is blocked'),
      'leader-election': () => late(state.elector?.idleForMs() ?? 0, maxElectorIdleMs),
      watches: () => late(Math.max(0, ...silences(state)), maxSilenceMs),
    },
    ready: {
      stopping: () => (running.signal.aborted ? 'it is about to end' : null),
      watches: () => unreadProblem(state.reflectors),
    },
    remarks: { watches: () => unreadRemark(state.reflectors) },
  }
  const health = await openHttpServer(
    { address: settings.healthAddress, setting: 'HEALTH_ADDR' },
    { log, routes: (server) => healthRoutes(server, checks) },
  )
  running.own('health server', health)
  const server = await openHttpServer(
    { address: settings.metricsAddress, setting: 'METRICS_ADDR' },
    {
      log,
      routes: (routes) => {
        routes.get('/metrics', async (_request, reply) =>
          reply.type(metrics.contentType).send(await metrics.text()),
        )
      },
    },
  )
  running.own('metrics server', server)
  log.info({ health: health.port, metrics: server.port }, 'health and metrics are served')
}

function silences({ reflectors }: State): number[] {
  return reflectors.map((reflector) => reflector.silentForMs())
}
