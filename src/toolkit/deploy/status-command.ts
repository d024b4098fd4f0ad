/** `view status`: where Views were deployed and how they stand there. */
import { ServiceError } from '../../errors.ts'
import type { RegistryClient } from '../../registry/precompile/registry-client.ts'
import { paths } from '../../service/contract.ts'
import { exitCodeOf } from '../cli/exit-code.ts'
import { parseHostUrl, parseHttpUrl } from '../cli/http-url.ts'
import { openProgressLine, printResult, toSingleLine } from '../cli/print.ts'
import { tableText } from '../cli/table.ts'
import type { Terminal } from '../cli/terminal.ts'
import { findView, type HostedReport } from '../host-api/posted-view.ts'
import type { Deployment } from '../project/deployments.ts'
import { hostEndpoint, isIncomplete, rpcEndpoint } from '../project/endpoint.ts'
import { openProject } from '../project/project.ts'
import { type CometFlags, cometUrlOf, endText, findEnd } from './ended-registration.ts'

/** What the command takes. */
export interface DeploymentStatusFlags extends CometFlags {
  readonly host?: string
  readonly rpc?: string
  readonly json?: boolean
}

interface DeploymentStatus extends Omit<Deployment, 'state'> {
  /** Of the Host, or of the registry chain. */
  readonly state: string
  /** At a Host: what its rows are asked for by, and how many there are. */
  readonly served: string | null
  readonly rows: number | null
  readonly blocksFailed: number | null
  readonly error: string | null
  readonly remedy: string | null
}

/** What is not known of a place, or not to be had there. */
const unknown = { served: null, rows: null, blocksFailed: null, error: null, remedy: null } as const

/**
 * Prints the last deployment of each version to each place.
 * @throws ServiceError after that, of a place that was not reached: what is printed is not all that was asked for.
 */
export async function printStatus(
  terminal: Terminal,
  name: string | undefined,
  flags: DeploymentStatusFlags,
): Promise<void> {
  const project = await openProject(terminal)
  const all = await project.deployments()
  const own = all.filter(({ view }) => name === undefined || view === name)
  // One that was deleted may be served on; what was never there is no View.
  if (name !== undefined && own.length === 0) await project.load(name)
  const wanted = lastOfEach(await queriesOf(terminal, own, flags))
  const progress = openProgressLine(terminal)
  const statuses: DeploymentStatus[] = []
  const failures: ServiceError[] = []
  for (const query of wanted) {
    progress.show(`${query.deployment.view} at ${query.deployment.endpoint}`)
    statuses.push(await statusOf(terminal, query, (error) => failures.push(error)))
  }
  progress.end()
  const text = statuses.length === 0 ? 'nothing is deployed' : statusText(statuses)
  printResult(terminal, { deployments: statuses }, { json: flags.json, text })
  const failure = failures.find((error) => exitCodeOf(error) === 3) ?? failures[0]
  if (failure !== undefined) throw failure
}

/** A deployment and where its state is asked for, which is its endpoint as well. */
interface StatusQuery {
  readonly deployment: Deployment
  /** With what is not shown. */
  readonly url: string
  /** The consensus RPC of its chain; null where that is not known. */
  readonly cometUrl: string | null
  /** Whether this View was deployed to this place, as far as the list says. */
  readonly isRecorded: boolean
}

/** Where each is asked: as recorded, but for `--host`, and for `--rpc` with those of its chain. */
async function queriesOf(
  terminal: Terminal,
  deployments: readonly Deployment[],
  flags: DeploymentStatusFlags,
): Promise<StatusQuery[]> {
  const { host, rpc } = flags
  const hostUrl = host === undefined ? null : parseHostUrl('--host', host)
  const rpcUrl = rpc === undefined ? null : parseHttpUrl('--rpc', rpc, 'JSON-RPC')
  const onChain = deployments.filter(({ target }) => target === 'devnet')
  const chains = new Set(onChain.map(({ chainId }) => chainId))
  // A node may name another chain than it signs for: where there is but one, that is meant.
  const named =
    rpcUrl !== null && chains.size > 1
      ? await (await clientOf(terminal, rpcUrl.href)).chainId()
      : null
  const cometUrl = onChain.length === 0 ? null : cometUrlOf(terminal, flags)
  return deployments.map((deployment) => {
    const { id, target, endpoint, chainId } = deployment
    const recorded = { deployment, url: endpoint, cometUrl: null, isRecorded: true }
    if (target === 'local') {
      if (hostUrl === null) return recorded
      const asked = hostEndpoint(hostUrl)
      const isRecorded = deployments.some((each) => each.id === id && each.endpoint === asked)
      return {
        ...recorded,
        deployment: { ...deployment, endpoint: asked },
        url: hostUrl,
        isRecorded,
      }
    }
    // Of several chains it is that of `--rpc`.
    const isMeant = chains.size === 1 || named === chainId
    if (!isMeant) return recorded
    if (rpcUrl === null) return { ...recorded, cometUrl }
    const asked = { ...deployment, endpoint: rpcEndpoint(rpcUrl) }
    return { ...recorded, deployment: asked, url: rpcUrl.href, cometUrl }
  })
}

async function clientOf({ signal }: Terminal, url: string): Promise<RegistryClient> {
  const { createRegistryClient } = await import('../../registry/precompile/registry-client.ts')
  return createRegistryClient(url, signal)
}

function lastOfEach(queries: readonly StatusQuery[]): StatusQuery[] {
  const keyOf = ({ deployment: { endpoint, chainId, id } }: StatusQuery): string =>
    `${endpoint} ${chainId} ${id}`
  return [...new Map(queries.map((query) => [keyOf(query), query])).values()]
}

async function statusOf(
  terminal: Terminal,
  query: StatusQuery,
  onFailure: (error: ServiceError) => void,
): Promise<DeploymentStatus> {
  const { deployment, url, isRecorded } = query
  try {
    if (deployment.target === 'devnet')
      return { ...deployment, ...unknown, ...(await stateOnChain(terminal, query, onFailure)) }
    const found = await findView({ url, token: null }, deployment.id, terminal.signal)
    if (found === null)
      return { ...deployment, ...unknown, state: isRecorded ? 'gone' : 'not deployed' }
    const { state, name, rows, blocks_failed: blocksFailed, error } = found
    return {
      ...{ ...deployment, state, served: name, rows, blocksFailed },
      ...{ error: error?.message ?? null, remedy: remedyOf(found, deployment.endpoint) },
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    onFailure(error)
    return { ...deployment, ...unknown, state: 'not reached', error: error.message }
  }
}

/** What the Host says, and how a quarantine ends: by that alone where the cause is mended. */
function remedyOf({ id, state, error }: HostedReport, endpoint: string): string | null {
  const retry =
    state === 'quarantined'
      ? [
          `POST ${endpoint}${paths.views}/${id}/retry with the admin token of the Host ends the quarantine.`,
        ]
      : []
  const all = [...(error?.remedy === undefined ? [] : [error.remedy]), ...retry]
  return all.length === 0 ? null : all.join(' ')
}

/** With the reason where the chain has dropped it, and says why. */
async function stateOnChain(
  terminal: Terminal,
  { deployment: { address, transaction }, url, cometUrl }: StatusQuery,
  onFailure: (error: ServiceError) => void,
): Promise<Pick<DeploymentStatus, 'state' | 'error'>> {
  if (isIncomplete(url)) throw incomplete(url)
  const client = await clientOf(terminal, url)
  const { status } = await client.getView(address)
  if (status !== 'none') return { state: status, error: null }
  const state = 'not registered'
  if (cometUrl === null) return { state, error: null }
  const receipt = transaction === null ? null : await client.receipt(transaction)
  const ended = { address, sinceHeight: receipt?.height ?? 0, withinMs: 0 }
  try {
    const found = await findEnd(terminal, cometUrl, ended)
    return { state, error: found === null ? null : endText(found) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    onFailure(error)
    return { state, error: error.message }
  }
}

function incomplete(endpoint: string): ServiceError {
  return new ServiceError(
    'REGISTRY_UNREACHABLE',
    `of the RPC at ${endpoint} only the origin is recorded: the rest may be a secret`,
    { facts: { endpoint }, remedy: 'Give its whole URL with --rpc.' },
  )
}

/** A table, and below it what is wrong. */
function statusText(statuses: readonly DeploymentStatus[]): string {
  return [tableOf(statuses), ...statuses.flatMap(troubleOf)].join('\n')
}

function troubleOf(status: DeploymentStatus): string[] {
  const { view, revision, endpoint, blocksFailed, error, remedy } = status
  const failed =
    blocksFailed === null || blocksFailed === 0 ? [] : [`${blocksFailed} blocks failed`]
  const what = [...failed, ...(error === null ? [] : [toSingleLine(error)])]
  if (what.length === 0) return []
  const line = `${view} (version ${revision}) at ${endpoint}: ${what.join('; ')}`
  return remedy === null ? [line] : [line, `What to do: ${toSingleLine(remedy)}`]
}

function tableOf(statuses: readonly DeploymentStatus[]): string {
  return tableText(
    ['VIEW', 'VERSION', 'TARGET', 'WHERE', 'STATE', 'SERVED AS', 'ROWS', 'ADDRESS', 'ID'],
    statuses.map((status) => [
      status.view,
      String(status.revision),
      status.target,
      status.endpoint,
      status.state,
      status.served ?? '-',
      status.rows === null ? '-' : String(status.rows),
      status.address,
      status.id,
    ]),
  )
}
