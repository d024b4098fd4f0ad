/**
 * The registry chain as a Host sees it: follows it where it is set, and serves those of its Views that have a place. What
 * was served before is served whether or not the chain can be reached.
 */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { followRegistry, type RegistryFollower } from '../../registry/follow.ts'
import { createRegistryMetrics } from '../../registry/metrics.ts'
import type { FailureReport, RegistryStateName } from '../../service/contract.ts'
import { toFailureReport } from '../../service/health/health-report.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'
import { createViewChecker } from '../views/view-checker.ts'
import { maxFieldsOf } from '../views/view-room.ts'
import type { HostViews } from '../views/views.ts'
import { type Admission, openAdmission } from './admission.ts'
import { type FilterSettings, openFilters } from './filter-lists.ts'
import { createHostRegistryMetrics } from './metrics.ts'
import { openOutcomes } from './outcomes.ts'
import type { RegistryReport } from './registry-report.ts'

interface HostRegistryOptions extends FilterSettings {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly maxViews: number
  /** Null where only Views that are posted here are served. */
  readonly registryLcdUrl: string | null
  readonly registryRpcUrl: string | null
  readonly registryMaxMb: number
}

interface HostRegistryParts {
  readonly log: Logger
  readonly registry: Registry
  readonly reader: StoreReader
  readonly writer: Pick<Writer, 'putRecord'>
  readonly views: HostViews
  /** Called where the store cannot go on. */
  readonly onFatal: (error: unknown) => void
}

export interface HostRegistry {
  /** Null without a registry chain. */
  report(): RegistryReport | null
  /** What keeps it from the chain, as `/health` shows it. */
  failures(): readonly FailureReport[]
  close(): Promise<void>
}

/** How often is decided again because time has passed: disks fill, and what failed is tried again. */
const decideIntervalMs = 10_000

/** Begins at once. */
export async function openHostRegistry(
  options: HostRegistryOptions,
  { log, registry, reader, writer, views, onFatal }: HostRegistryParts,
): Promise<HostRegistry> {
  const { network, maxViews, registryMaxMb } = options
  const filters = await openFilters(options, log)
  const outcomes = openOutcomes({ reader, writer, onFatal })
  let follower: RegistryFollower | null = null
  const state = (): ReturnType<RegistryFollower['state']> | null => follower?.state() ?? null
  const admission = openAdmission(
    { maxViews, maxBytes: registryMaxMb * 1e6, maxFields: maxFieldsOf(maxViews) },
    {
      log,
      views,
      fetch: async (id) => (await follower?.fetch(id)) ?? null,
      outcomes,
      checker: createViewChecker({ network }),
      filter: filters.standing,
      mayDecide: () => filters.denyProblem() === null,
      count: createHostRegistryMetrics(registry, { following: state, report: () => report() }),
      onFatal,
    },
  )
  const report = (): RegistryReport | null => toReport(follower, admission, views)
  follower = follow(options, { log, registry, admission })
  views.onLocal(admission.decide)
  filters.onChange(admission.decide)
  admission.decide()
  const timer = setInterval(admission.decide, decideIntervalMs).unref()
  return {
    report,
    failures: () => {
      if (options.registryRpcUrl !== null && follower === null) return [incomplete]
      const { listFailure = null, streamFailure = null } = state() ?? {}
      const failures = [listFailure, streamFailure].filter((each) => each !== null)
      return [...unreadDeny(filters.denyProblem()), ...failures.map(toFailureReport)]
    },
    async close() {
      clearInterval(timer)
      filters.close()
      await Promise.all([follower?.close(), admission.close()])
      await outcomes.close()
    },
  }
}

const incomplete: FailureReport = {
  code: 'HOST_REGISTRY_INCOMPLETE',
  message:
    'REGISTRY_RPC_URL is set without REGISTRY_LCD_URL, so no View of the registry chain is found.',
  remedy: 'Set REGISTRY_LCD_URL as well: events alone miss what was registered before.',
}

/** A Host that does not know what it must not serve begins to serve nothing of the chain. */
function unreadDeny(problem: string | null): FailureReport[] {
  if (problem === null) return []
  return [
    {
      code: 'HOST_REGISTRY_DENY_UNREAD',
      message: `The file of REGISTRY_DENY_FILE cannot be read (${problem}), so that no further View of the registry chain is served.`,
      remedy:
        'Make the file, empty where nothing is denied, correct the line that it names, or unset REGISTRY_DENY_FILE.',
    },
  ]
}

function follow(
  { registryLcdUrl: lcdUrl, registryRpcUrl: rpcUrl }: HostRegistryOptions,
  {
    log,
    registry,
    admission,
  }: Pick<HostRegistryParts, 'log' | 'registry'> & { readonly admission: Admission },
): RegistryFollower | null {
  const metrics = createRegistryMetrics(registry)
  if (lcdUrl === null) return null
  return followRegistry(
    { lcdUrl, rpcUrl },
    {
      log,
      metrics,
      onListed: admission.listed,
      onListEnd: admission.listEnded,
      onSent: admission.sent,
      onRefused: admission.unreadable,
    },
  )
}

function toReport(
  follower: RegistryFollower | null,
  admission: Admission,
  views: HostViews,
): RegistryReport | null {
  if (follower === null) return null
  const { listedAtMs, listed } = follower.state()
  const others = admission.others()
  const count = (name: string): number => others.filter(({ state }) => state === name).length
  return {
    state: stateName(follower),
    last_listed: listedAtMs === null ? null : new Date(listedAtMs).toISOString(),
    listed,
    served: views.list().filter(({ registered_at }) => registered_at !== null).length,
    over_limit: count('overLimit'),
    denied: count('denied'),
    refused: count('refused'),
    foreign: count('foreign'),
    others,
  }
}

function stateName(follower: RegistryFollower): RegistryStateName {
  const { stream, listedAtMs, listFailure } = follower.state()
  if (listFailure !== null) return 'away'
  if (listedAtMs === null) return 'connecting'
  return stream === 'live' ? 'live' : 'polling'
}
