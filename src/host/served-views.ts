/** The Views of a Host with everything around them: where they come from, who signs their rows, who disagrees, the API. */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Graphql } from '../graphql/graphql.ts'
import type { DigestSigner } from '../identity/signature.ts'
import { openFailureLog } from '../service/failure-log.ts'
import type { Running } from '../service/run.ts'
import type { StoreReader } from '../store/store.ts'
import { openHostApi } from './api.ts'
import type { Writer } from './apply/writer.ts'
import type { HostSettings } from './config.ts'
import { openViewsFolder } from './folder/views-folder.ts'
import type { Followers } from './follow/followers.ts'
import { openHostRegistry } from './registry/host-registry.ts'
import { materializedOf } from './row-votes/finished-leaves.ts'
import { createRowSignerMetrics } from './row-votes/metrics.ts'
import { openRowDisagreements, type RowDisagreements } from './row-votes/row-disagreements.ts'
import { openRowSigner } from './row-votes/row-signer.ts'
import type { HostStatusReporter } from './status.ts'
import type { Trust } from './trust/trust.ts'
import { openHostViews } from './views/host-views.ts'
import { isHosted } from './views/hosted-view.ts'
import { createViewChecker } from './views/view-checker.ts'
import type { HostViews } from './views/views.ts'

interface ServedViewsOptions {
  readonly settings: HostSettings
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** The program's, of which the lens process gets very little. */
  readonly environment: NodeJS.ProcessEnv
}

interface ServedViewsParts {
  readonly log: Logger
  readonly registry: Registry
  readonly running: Pick<Running, 'own'>
  readonly status: Pick<HostStatusReporter, 'report'>
  readonly reader: StoreReader
  readonly writer: Pick<Writer, 'putRecord'>
  readonly signer: DigestSigner
  readonly trust: Pick<Trust, 'hosts'>
  readonly followers: Pick<Followers, 'writer' | 'begin'>
  readonly graphql: Graphql
  /** Called where the store cannot go on. */
  readonly onFatal: (error: unknown) => void
}

/** Serves what it finds, and listens on the API port. All that is open is owned by `running`. */
export async function openServedViews(
  { settings, network, environment }: ServedViewsOptions,
  parts: ServedViewsParts,
): ReturnType<typeof openHostApi> {
  const { running, status } = parts
  const options = { ...settings, network, environment }
  const views = openSignedViews(options, parts)
  const folderParts = { ...parts, views, checker: createViewChecker({ network }) }
  const folder = running.own('views folder', await openViewsFolder(settings, folderParts))
  const rows = openComparedRows(views, parts)
  const registry = await openHostRegistry(options, { ...parts, views })
  running.own('registry', registry)
  status.report({ views, folder, rows, registry })
  const apiParts = { ...parts, views, folder, hostRegistry: registry }
  return running.own('api', await openHostApi(settings, apiParts))
}

/** What Views store passes the row signer, which signs it, and the followers, who are sent rows and signatures. */
function openSignedViews(
  options: Parameters<typeof openHostViews>[0],
  parts: ServedViewsParts,
): HostViews {
  const { registry, running, followers } = parts
  const metrics = createRowSignerMetrics(registry)
  const rowSigner = openRowSigner(options, { ...parts, metrics, writer: followers.writer })
  const views = running.own('views', openHostViews(options, { ...parts, writer: rowSigner.writer }))
  running.own('row signer', rowSigner).begin(() => materializedOf(views.kept()))
  followers.begin(views)
  return views
}

/** Compares what is signed of the rows of these Views with what accepted Hosts sign, in the log as well. */
function openComparedRows(views: HostViews, parts: ServedViewsParts): RowDisagreements {
  const { log, running, signer, trust } = parts
  const nameOf = (id: string): string | null =>
    views
      .kept()
      .filter(isHosted)
      .find((view) => view.id === id)?.name ?? null
  const hosts = (): string[] => trust.hosts().map(({ identity }) => identity)
  const rows = openRowDisagreements({ own: signer.identity }, { ...parts, hosts, nameOf })
  running.own('row disagreements', rows)
  running.own('log of rows', openFailureLog({}, { log, failures: rows.failures }))
  return rows
}
