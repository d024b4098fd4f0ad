/** What `npm start` prints: what runs where, and the query to begin with. */
import { homedir } from 'node:os'
import { join, sep } from 'node:path'
import { paths } from '../service/contract.ts'
import type { ChainSource } from './chain-source.ts'
import type { DevnetSettings } from './config.ts'
import { generatorPorts, hostPorts, playgroundPort } from './programs.ts'
import type { DevelopmentRegistry } from './registry/development-registry.ts'

/** The query to paste: the newest block with everything that hangs on it. */
const firstQuery =
  '{ Block(order: {number: DESC}, limit: 1) { number hash transactions { hash from to status logs { address topics } accessList { address storageKeys } } } }'

/** The address the programs listen on, as this machine reaches it. */
export function localAddress(settings: DevnetSettings): string {
  return settings.listen === '0.0.0.0' ? '127.0.0.1' : settings.listen
}

/** Base URL of a port of the Generator or the Host. */
export function localUrl(settings: DevnetSettings, port: number): string {
  return `http://${localAddress(settings)}:${port}`
}

type RegistryAddresses = Pick<DevelopmentRegistry, 'rpcUrl' | 'chainId' | 'cometUrl' | 'lcdUrl'>

interface Started {
  readonly settings: DevnetSettings
  readonly source: ChainSource
  /** Null where the user gave a registry chain. */
  readonly registry: RegistryAddresses | null
  /** The Host's admin token: of this machine's own Host, so that it can be shown. */
  readonly token: string
}

/** What is running and where; printed once everything has started. */
export function announcement({ settings, source, registry, token }: Started): string {
  const generator = generatorPorts(settings)
  const host = hostPorts(settings)
  const url = (port: number, path = ''): string => `${localUrl(settings, port)}${path}`
  const rows = [
    ['Execution node', ...source.rpcUrls.map(withoutPath), ...wsOf(source)],
    ['Generator', url(generator.api, paths.graphql), url(generator.health, paths.health)],
    ['', `P2P port ${generator.p2p}`],
    ['Host', url(host.api, paths.graphql), url(host.health, paths.health)],
    ['', `P2P port ${host.p2p}`],
    ['', `admin token ${token}`],
    ['Playground', url(playgroundPort(host))],
    ...registryRows(registry),
    ['Data and logs', shortened(source.folder)],
  ]
  const lines = rows.map(([name = '', ...values]) => `  ${name.padEnd(16)}${values.join('   ')}`)
  return [
    '',
    `${source.chain}__${source.network}, genesis ${source.genesisHash}`,
    ...lines,
    '',
    'Ctrl-C stops everything; started again it goes on where it was.',
    '',
  ].join('\n')
}

function registryRows(registry: RegistryAddresses | null): string[][] {
  if (registry === null) return []
  const { rpcUrl, chainId, cometUrl, lcdUrl } = registry
  return [
    ['Registry chain', rpcUrl, `chain ID ${chainId}`],
    ['', `CometBFT ${cometUrl}`, `LCD ${lcdUrl}`],
  ]
}

/** The path as a shell takes it, from the home folder where it is in it. */
function shortened(path: string): string {
  const home = `${homedir()}${sep}`
  return path.startsWith(home) ? join('~', path.slice(home.length)) : path
}

/** A command that asks the Host for its newest block. */
export function queryToPaste(settings: DevnetSettings): string {
  const endpoint = `${localUrl(settings, settings.hostApiPort)}${paths.graphql}`
  const body = JSON.stringify({ query: firstQuery })
  return [
    '',
    'The Host has blocks. Ask it for the newest one:',
    '',
    `curl -s ${endpoint} -H 'content-type: application/json' -d '${body}'`,
    '',
  ].join('\n')
}

/** A node's URL may hold a key in its path. */
function withoutPath(url: string): string {
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}

function wsOf(source: ChainSource): string[] {
  return source.wsUrl === null ? [] : [withoutPath(source.wsUrl)]
}
