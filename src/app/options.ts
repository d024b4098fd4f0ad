/** What an application says when it opens its store, checked once. */
import { didYouMean, nearestName } from '../did-you-mean.ts'
import { ServiceError } from '../errors.ts'
import { followLimits } from '../follow/follow-limits.ts'
import { parsePeerAddresses, withoutPeer } from '../p2p/peers/address.ts'
import { maxInt } from '../primitives/bounds.ts'
import { peerAtEnd } from '../service/settings/peer-at-end.ts'
import { parseViewID } from '../views/view-id.ts'
import type { AppOptions } from './contract.ts'

/** The same with all defaults. */
export interface CheckedOptions {
  readonly path: string
  readonly views: readonly string[]
  readonly peers: readonly string[]
  readonly network: string
  readonly hosts: readonly string[] | null
  readonly signers: ReadonlySet<string>
  readonly minimumHosts: number
  readonly minimumAttestations: number
  readonly from: number
  readonly maxBytes: number
}

const maxPeers = 16
const minBytes: number = 16 * 1024 * 1024
const defaultMaxBytes: number = 4 * 1024 * 1024 * 1024
const identityPattern = /^(?:0[23][0-9a-f]{64}|[0-9a-f]{64})$/
const networkPattern = /^[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*__[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*$/

const optionNames: Readonly<Record<keyof AppOptions, 1>> = {
  ...{ path: 1, views: 1, peers: 1, network: 1, hosts: 1, signers: 1, from: 1, maxBytes: 1 },
  ...{ minimumHosts: 1, minimumAttestations: 1, signal: 1, log: 1 },
}

/** @throws ServiceError `APP_OPTION_INVALID`, with the option, what is wrong and what is accepted, or `P2P_ADDRESS_INVALID`. */
export function checkOptions(options: AppOptions): CheckedOptions {
  checkOptionNames(options, optionNames)
  const { path, network = 'Ethereum__Mainnet' } = options
  if (typeof path !== 'string' || path === '') throw invalid('path', path, 'the path of a folder')
  if (!networkPattern.test(network))
    throw invalid('network', network, 'a chain and a network, as in Ethereum__Mainnet')
  const peers = peersOf(options.peers)
  const hosts = options.hosts === undefined ? null : identitiesOf('hosts', options.hosts)
  const signers = identitiesOf('signers', options.signers ?? [])
  const { size: known } = new Set(hosts ?? peers.map(peerAtEnd))
  return {
    path,
    network,
    peers,
    hosts,
    views: listOf('views', options.views, followLimits.views, longID),
    signers: new Set(signers),
    minimumHosts: wholeOf('minimumHosts', options.minimumHosts ?? 1, 1, known),
    minimumAttestations: wholeOf(
      'minimumAttestations',
      options.minimumAttestations ?? 0,
      0,
      signers.length,
    ),
    from: wholeOf('from', options.from ?? 0, 0, maxInt),
    maxBytes: wholeOf('maxBytes', options.maxBytes ?? defaultMaxBytes, minBytes, 2 ** 48),
  }
}

/**
 * Refuses names that are none of an option: nobody would notice that what a misspelt one asks for, as many Hosts or
 * attestations, does not hold.
 * @throws ServiceError `APP_OPTION_INVALID`.
 */
export function checkOptionNames(options: object, known: Readonly<Record<string, 1>>): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name))
  if (unknown === undefined) return
  const option = unknown.slice(0, 120)
  const names = Object.keys(known)
  const message = `there is no option ${option}${didYouMean(nearestName(option, names))}`
  throw new ServiceError('APP_OPTION_INVALID', message, {
    facts: { option },
    remedy: `Options are ${names.join(', ')}.`,
  })
}

function listOf(
  name: string,
  list: readonly string[],
  most: number,
  check: (text: string, name: string) => string,
): readonly string[] {
  if (!Array.isArray(list) || list.length === 0 || list.length > most)
    throw invalid(name, list, `a list of 1 to ${most}`)
  return [...new Set(list.map((text) => check(text, name)))]
}

/** In the one spelling of which the end is the peer ID as a connection names it, so that the peer is known by it. */
function peersOf(list: readonly string[]): readonly string[] {
  const given = listOf('peers', list, maxPeers, (text, name) => {
    if (typeof text === 'string' && text.trim() !== '') return text
    throw invalid(name, text, 'addresses of Hosts that end in /p2p/ and a peer ID')
  })
  const found = parsePeerAddresses(given)
  return [...new Set(found.map(({ id, address }) => `${withoutPeer(address)}/p2p/${id}`))]
}

function identitiesOf(name: string, list: readonly string[]): readonly string[] {
  const check = (text: string): string => {
    if (typeof text === 'string' && identityPattern.test(text)) return text
    throw invalid(name, text, 'public keys in lower-case hex, as `identity` in /health shows them')
  }
  if (!Array.isArray(list)) throw invalid(name, list, 'a list of public keys in hex')
  return [...new Set(list.map(check))]
}

function longID(text: string, name: string): string {
  const id = typeof text === 'string' ? parseViewID(text)?.id : undefined
  if (id !== undefined) return id
  throw invalid(
    name,
    text,
    'long IDs of Views, 0x and 64 hexadecimal digits; a Host lists them at /api/v0/views',
  )
}

function wholeOf(name: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  throw invalid(name, value, `a whole number from ${least} to ${most}`)
}

function invalid(name: string, found: unknown, accepted: string): ServiceError {
  const text = JSON.stringify(found)?.slice(0, 120) ?? String(found)
  return new ServiceError('APP_OPTION_INVALID', `the option ${name} is ${text}`, {
    facts: { option: name, found: text },
    remedy: `Accepted is ${accepted}.`,
  })
}
