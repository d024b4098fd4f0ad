/** `view deploy --target local`: to a running Host, else to one of its own that runs until it is interrupted. */
import { ServiceError } from '../../errors.ts'
import { paths, ports } from '../../service/contract.ts'
import { noSender } from '../../views/view-id.ts'
import { defaultHostUrl } from '../cli/default-host.ts'
import { parseHostUrl } from '../cli/http-url.ts'
import { printResult, remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { readAdminToken } from '../host-api/admin-token.ts'
import type { HostAddress } from '../host-api/host-request.ts'
import { remarkWarnings } from '../host-api/host-warnings.ts'
import { type HostedReport, postView } from '../host-api/posted-view.ts'
import { hostEndpoint } from '../project/endpoint.ts'
import { openProject, type Project } from '../project/project.ts'
import type { DeployFlags } from './deploy-flags.ts'
import { embeddedFolder, embeddedUrl, keptToken, openEmbeddedHost } from './embedded-host.ts'

/** Posts the View. What is posted already stays as it is. */
export async function deployLocally(
  terminal: Terminal,
  name: string,
  flags: DeployFlags,
): Promise<void> {
  const given = flags.host === undefined ? null : parseHostUrl('--host', flags.host)
  const project = await openProject(terminal)
  const { wire, revision } = await project.wire(name)
  const deployed = { project, name, wire, revision }
  const token = await readAdminToken(terminal, flags.adminTokenFile)
  if (given !== null) return await postAndPrint(terminal, { url: given, token }, deployed, flags)
  const kept = token ?? keptToken(terminal, project)
  // Where one of the toolkit's own listens, an earlier command may have started it.
  for (const url of new Set([defaultHostUrl, embeddedUrl(terminal)]))
    try {
      return await postAndPrint(terminal, { url, token: kept }, deployed, flags)
    } catch (error) {
      const isAbsent = error instanceof ServiceError && error.code === 'TOOLKIT_HOST_UNREACHABLE'
      if (!isAbsent) throw error
    }
  await deployToOwnHost(terminal, deployed, flags)
}

interface DeployedView {
  readonly project: Project
  readonly name: string
  readonly wire: Uint8Array
  readonly revision: number
}

async function deployToOwnHost(
  terminal: Terminal,
  deployed: DeployedView,
  flags: DeployFlags,
): Promise<void> {
  const folder = embeddedFolder(terminal, deployed.project)
  remark(terminal, `no Host at ${defaultHostUrl}: starting one, which keeps its data in ${folder}`)
  if ((terminal.env['BOOTSTRAP_PEERS'] ?? '') === '')
    remark(terminal, 'it knows no Generator, so it gets no blocks; set BOOTSTRAP_PEERS for that')
  const host = await openEmbeddedHost(terminal, folder)
  try {
    await postAndPrint(terminal, host.address, deployed, flags)
    remark(terminal, 'the Host runs until you interrupt this command (Ctrl-C)')
    await host.ended
  } finally {
    await host.close()
  }
}

async function postAndPrint(
  terminal: Terminal,
  host: HostAddress,
  { project, name, wire, revision }: DeployedView,
  { json }: DeployFlags,
): Promise<void> {
  const { report, isNew } = await postView(host, wire, terminal.signal)
  const { id, address } = report
  const endpoint = hostEndpoint(host.url)
  await project.addDeployment({
    ...{ view: name, revision, target: 'local', at: new Date().toISOString() },
    ...{ id, address, creator: noSender, endpoint },
    ...{ transaction: null, chainId: null, state: 'registered' },
  })
  if (!isNew) {
    remark(terminal, 'collection already exists')
    remark(
      terminal,
      `What to do: Nothing: the existing collection is used. For a clean slate DELETE ${endpoint}${paths.views}/${id} with the admin token of the Host, or stop the Host and delete its data directory, and deploy again.`,
    )
  }
  remarkWarnings(terminal, report.warnings)
  const value = { view: name, revision, host: endpoint, isNew, ...report }
  printResult(terminal, value, { json, text: deployedText(name, revision, endpoint, report) })
}

function deployedText(
  name: string,
  revision: number,
  endpoint: string,
  { id, address, name: served, state }: HostedReport,
): string {
  const ids = [`ID:         ${id}`, `address:    ${address}`]
  if (served === null)
    return [
      `${name} (version ${revision}) is kept by ${endpoint} as ${state}: it reads another chain than this Host's, and has no rows there`,
      ...ids,
    ].join('\n')
  return [
    `${name} (version ${revision}) is served by ${endpoint} as ${served}, ${state}`,
    ...ids,
    `GraphQL:    ${endpoint}${paths.graphql}`,
    ...playgroundLine(endpoint),
    `try:        { ${served}(limit: 3) { _docID _blockNumber } }`,
  ].join('\n')
}

/** The port after the API's; where that is behind a path or at no port of its own, nobody knows. */
function playgroundLine(endpoint: string): string[] {
  const url = new URL(endpoint)
  if (url.pathname !== '/' || url.port === '') return []
  url.port = String(Number(url.port) + ports.playground - ports.api)
  return [`playground: ${url.href}`]
}
