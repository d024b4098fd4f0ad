/**
 * `viewmesh devnet`, which is what `npm start` runs: an execution node with life on it (or the node
 * of `NODE_RPC_URL`), a Generator beside it, and a Host that knows the Generator as its only peer.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { ProgramName } from '../service/contract.ts'
import { type Running, runProgram } from '../service/run.ts'
import { announcement, localAddress, localUrl, queryToPaste } from './announcement.ts'
import { openProgramFolder, type ProgramFolder, programFolder } from './chain-folder.ts'
import { type ChainSource, openChainSource } from './chain-source.ts'
import { type Child, type Children, openChildren } from './children.ts'
import {
  type DevnetSettings,
  hasOwnRegistry,
  listeningPorts,
  loadDevnetSettings,
} from './config.ts'
import { followNpm } from './follow-npm.ts'
import { requireFreePorts } from './free-ports.ts'
import { waitForPeerId } from './health.ts'
import { openLoad } from './load.ts'
import { forwardWarnings } from './program-log.ts'
import {
  devnetGeneratorEnvironment,
  devnetHostEnvironment,
  generatorPorts,
  hostPorts,
  type ProgramPorts,
  programEnvironment,
  startProgram,
} from './programs.ts'
import { openProgress } from './progress.ts'
import { openReadableLog } from './readable-log.ts'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from './registry/development-registry.ts'
import { showTokenView } from './token-view.ts'

/** Generator and Host may take this long to stop, everything together what follows: under five seconds. */
const programStopMs = 3_000
const stopTimeoutMs = 4_800

/** Runs the development chain until a signal or a failure; `argv` is what follows the command. */
export async function runDevnet(argv: readonly string[]): Promise<never> {
  return await runProgram({ name: 'devnet', stopTimeoutMs }, (running) =>
    start(argv, process.env, running),
  )
}

async function start(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  running: Running,
): Promise<void> {
  const log = openReadableLog((line) => void process.stdout.write(line))
  running.useLog(log)
  void followNpm(env, running.signal)
  const settings = loadDevnetSettings({ argv, env })
  await requireFreePorts(settings.listen, listeningPorts(settings))
  const children = running.own('node', openChildren({ onFailure: running.fail }))
  const source = await openChainSource(settings, { children, signal: running.signal, say, log })
  const load = source.isLocal
    ? await openLoad({ node: source.node }, { log, signal: running.signal })
    : null
  if (load !== null) running.own('load', load)
  const setup = { settings, source, env }
  const registry = await startPrograms(setup, { children, log, running })
  const adminToken = readAdminToken(source)
  say(announcement({ settings, source, registry, token: adminToken }))
  const watched = {
    node: source.node,
    generatorUrl: localUrl(settings, settings.generatorHealthPort),
    hostUrl: localUrl(settings, settings.hostHealthPort),
  }
  if (load !== null) {
    const hostUrl = localUrl(settings, settings.hostApiPort)
    const notePath = join(source.folder, 'token-view')
    const view = { hostUrl, healthUrl: watched.hostUrl, adminToken, token: load.token, notePath }
    void showTokenView(view, { log, signal: running.signal })
  }
  const onFirstBlock = (): void => say(queryToPaste(settings))
  running.own('progress', openProgress(watched, { log, onFirstBlock }))
}

interface Setup {
  readonly settings: DevnetSettings
  readonly source: ChainSource
  readonly env: NodeJS.ProcessEnv
}

/** First the Generator and the registry chain, then, when its peer ID is known, the Host. Both programs stop together. */
async function startPrograms(
  setup: Setup,
  parts: { readonly children: Children; readonly log: Logger; readonly running: Running },
): Promise<DevelopmentRegistry | null> {
  const { settings, source, env } = setup
  const { children, log, running } = parts
  const programs: Child[] = []
  running.own('programs', { close: () => stopAll(programs) })
  const launch = (
    name: ProgramName,
    ports: ProgramPorts,
    extraOf: (folder: ProgramFolder) => NodeJS.ProcessEnv,
  ): void => {
    const folder = openProgramFolder(source.folder, name)
    const extra = extraOf(folder)
    const common = programEnvironment({ ...setup, folder, ports })
    const onLine = forwardWarnings(name, { log, signal: running.signal })
    const options = { folder, env: { ...common, ...extra } }
    programs.push(startProgram(name, options, { children, onLine }))
  }
  const generator = generatorPorts(settings)
  launch('generator', generator, () => devnetGeneratorEnvironment(settings, source, env))
  const [peerId, registry] = await Promise.all([
    waitForPeerId(localUrl(settings, generator.health), running.signal),
    startRegistry(setup, parts),
  ])
  const address = `/ip4/${localAddress(settings)}/tcp/${generator.p2p}/p2p/${peerId}`
  // They stop before the registry does, which the Host would report as lost.
  running.own('programs of a registry', { close: () => stopAll(programs) })
  launch('host', hostPorts(settings), (folder) => devnetHostEnvironment(folder, address, registry))
  return registry
}

/** Null where the user gave a registry chain. */
async function startRegistry(
  { settings, source }: Setup,
  { children, running }: { readonly children: Children; readonly running: Running },
): Promise<DevelopmentRegistry | null> {
  if (!hasOwnRegistry(settings)) return null
  const options = {
    folder: join(source.folder, 'registry'),
    rpcPort: settings.registryEvmPort,
    cometPort: settings.registryCometPort,
    lcdPort: settings.registryLcdPort,
  }
  const registry = await openDevelopmentRegistry(options, { children, signal: running.signal })
  running.own('registry', registry)
  return registry
}

/** Opens the routes of the Host that change its Views. */
function readAdminToken({ folder }: ChainSource): string {
  return readFileSync(programFolder(folder, 'host').adminTokenPath, 'utf8').trim()
}

async function stopAll(programs: readonly Child[]): Promise<void> {
  await Promise.all(programs.map((program) => program.stop(programStopMs)))
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
