/** `view status`: where Views were deployed and how they stand there. */
import { ServiceError } from '../../errors.ts'
import { exitCodeOf } from '../cli/exit-code.ts'
import { parseHttpUrl } from '../cli/http-url.ts'
import { openProgressLine, printResult } from '../cli/print.ts'
import { tableText } from '../cli/table.ts'
import type { Terminal } from '../cli/terminal.ts'
import { findView } from '../host-api/posted-view.ts'
import type { Deployment } from '../project/deployments.ts'
import { hostEndpoint, isIncomplete, rpcEndpoint } from '../project/endpoint.ts'
import { openProject } from '../project/project.ts'

/** What the command takes. */
export interface DeploymentStatusFlags {
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
  readonly error: string | null
}

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
  if (name !== undefined) await project.load(name)
  const all = await project.deployments()
  const own = all.filter(({ view }) => name === undefined || view === name)
  const wanted = lastOfEach(await placesOf(terminal, own, flags))
  const progress = openProgressLine(terminal)
  const statuses: DeploymentStatus[] = []
  const failures: ServiceError[] = []
  for (const place of wanted) {
    progress.show(`${place.deployment.view} at ${place.deployment.endpoint}`)
    statuses.push(await statusOf(terminal, place, (error) => failures.push(error)))
  }
  progress.end()
  const text = statuses.length === 0 ? 'nothing is deployed' : statusText(statuses)
  printResult(terminal, { deployments: statuses }, { json: flags.json, text })
  const failure = failures.find((error) => exitCodeOf(error) === 3) ?? failures[0]
  if (failure !== undefined) throw failure
}

/** A deployment, its endpoint being that of the place that is asked. */
interface Place {
  readonly deployment: Deployment
  /** With what is not shown. */
  readonly url: string
}

/** Where each is asked: as recorded, but for `--host`, and for `--rpc` with those of its chain. */
async function placesOf(
  { signal }: Terminal,
  deployments: readonly Deployment[],
  { host, rpc }: DeploymentStatusFlags,
): Promise<Place[]> {
  const hostUrl = host === undefined ? null : parseHttpUrl('--host', host, 'Host').href
  const rpcUrl = rpc === undefined ? null : parseHttpUrl('--rpc', rpc, 'JSON-RPC')
  const onChain = deployments.filter(({ target }) => target === 'devnet')
  const chains = new Set(onChain.map(({ chainId }) => chainId))
  // A node may name another chain than it signs for: where there is but one, that is meant.
  const named = rpcUrl !== null && chains.size > 1 ? await chainOf(rpcUrl.href, signal) : null
  return deployments.map((deployment) => {
    const { target, endpoint, chainId } = deployment
    if (target === 'local' && hostUrl !== null)
      return { deployment: { ...deployment, endpoint: hostEndpoint(hostUrl) }, url: hostUrl }
    const isMeant = target === 'devnet' && (named === null || named === chainId)
    if (rpcUrl === null || !isMeant) return { deployment, url: endpoint }
    return { deployment: { ...deployment, endpoint: rpcEndpoint(rpcUrl) }, url: rpcUrl.href }
  })
}

async function chainOf(url: string, signal: AbortSignal): Promise<number> {
  const { createRegistryClient } = await import('../../registry/precompile/registry-client.ts')
  return await createRegistryClient(url, signal).chainId()
}

function lastOfEach(places: readonly Place[]): Place[] {
  const keyOf = ({ deployment: { endpoint, chainId, id } }: Place): string =>
    `${endpoint} ${chainId} ${id}`
  return [...new Map(places.map((place) => [keyOf(place), place])).values()]
}

async function statusOf(
  { signal }: Terminal,
  { deployment, url }: Place,
  onFailure: (error: ServiceError) => void,
): Promise<DeploymentStatus> {
  const unknown = { ...deployment, served: null, rows: null, error: null }
  try {
    if (deployment.target === 'devnet') {
      if (isIncomplete(url)) throw incomplete(url)
      const { createRegistryClient } = await import('../../registry/precompile/registry-client.ts')
      const client = createRegistryClient(url, signal)
      const { status } = await client.getView(deployment.address)
      return { ...unknown, state: status === 'none' ? 'not registered' : status }
    }
    const found = await findView({ url, token: null }, deployment.id, signal)
    if (found === null) return { ...unknown, state: 'gone' }
    const { state, name, rows, error } = found
    return { ...deployment, state, served: name, rows, error: error?.message ?? null }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    onFailure(error)
    return { ...unknown, state: 'not reached', error: error.message }
  }
}

function incomplete(endpoint: string): ServiceError {
  return new ServiceError(
    'REGISTRY_UNREACHABLE',
    `of the RPC at ${endpoint} only the origin is recorded: the rest may be a secret`,
    { facts: { endpoint }, remedy: 'Give its whole URL with --rpc.' },
  )
}

function statusText(statuses: readonly DeploymentStatus[]): string {
  return tableText(
    ['VIEW', 'VERSION', 'TARGET', 'WHERE', 'STATE', 'SERVED AS', 'ROWS', 'ADDRESS'],
    statuses.map((status) => [
      status.view,
      String(status.revision),
      status.target,
      status.endpoint,
      status.state,
      status.served ?? '-',
      status.rows === null ? '-' : String(status.rows),
      status.address,
    ]),
  )
}
