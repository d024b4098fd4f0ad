/** `view status`: where Views were deployed and how they stand there. */
import { ServiceError } from '../../errors.ts'
import { exitCodeOf } from '../cli/exit-code.ts'
import { openProgressLine, printResult } from '../cli/print.ts'
import { tableText } from '../cli/table.ts'
import type { Terminal } from '../cli/terminal.ts'
import { findView } from '../host-api/posted-view.ts'
import type { Deployment } from '../project/deployments.ts'
import { openProject } from '../project/project.ts'

/** What the command takes. */
export interface DeploymentStatusFlags {
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
  { json }: DeploymentStatusFlags,
): Promise<void> {
  const project = await openProject(terminal)
  if (name !== undefined) await project.load(name)
  const all = await project.deployments()
  const wanted = lastOfEach(all.filter(({ view }) => name === undefined || view === name))
  const progress = openProgressLine(terminal)
  const statuses: DeploymentStatus[] = []
  const failures: ServiceError[] = []
  for (const deployment of wanted) {
    progress.show(`${deployment.view} at ${deployment.endpoint}`)
    statuses.push(await statusOf(terminal, deployment, (error) => failures.push(error)))
  }
  progress.end()
  const text = statuses.length === 0 ? 'nothing is deployed' : statusText(statuses)
  printResult(terminal, { deployments: statuses }, { json, text })
  const failure = failures.find((error) => exitCodeOf(error) === 3) ?? failures[0]
  if (failure !== undefined) throw failure
}

function lastOfEach(deployments: readonly Deployment[]): Deployment[] {
  const places = new Map(
    deployments.map((deployment) => [`${deployment.endpoint} ${deployment.id}`, deployment]),
  )
  return [...places.values()]
}

async function statusOf(
  { signal }: Terminal,
  deployment: Deployment,
  onFailure: (error: ServiceError) => void,
): Promise<DeploymentStatus> {
  const unknown = { ...deployment, served: null, rows: null, error: null }
  try {
    if (deployment.target === 'devnet') {
      const { createRegistryClient } = await import('../../registry/precompile/registry-client.ts')
      const client = createRegistryClient(deployment.endpoint, signal)
      const { status } = await client.getView(deployment.address)
      return { ...unknown, state: status === 'none' ? 'not registered' : status }
    }
    const found = await findView({ url: deployment.endpoint, token: null }, deployment.id, signal)
    if (found === null) return { ...unknown, state: 'gone' }
    const { state, name, rows, error } = found
    return { ...deployment, state, served: name, rows, error: error?.message ?? null }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    onFailure(error)
    return { ...unknown, state: 'not reached', error: error.message }
  }
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
