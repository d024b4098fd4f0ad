/** Conditions that speak of what replicas say at `/health`. */

import type { GeneratorReference } from '../api/common-spec.ts'
import type { ReasonOf } from '../api/conditions.ts'
import type { Host } from '../api.ts'
import { p2pExposure } from '../resources/services.ts'
import type { Referred } from './generator-peers.ts'
import type { HealthView } from './health-view.ts'
import type { Statement } from './problem.ts'

const upstreamReasons: Readonly<Record<string, ReasonOf<'UpstreamReachable'>>> = {
  CHAIN_UNREACHABLE: 'Unreachable',
  CHAIN_TIMEOUT: 'Unreachable',
  CHAIN_UNAUTHORIZED: 'Unauthorized',
  GENERATOR_CHAIN_CHANGED: 'WrongChain',
}
const unobserved = {
  reason: 'Unobserved',
  message: 'No pod could be asked for its health.',
} as const

/** What a Generator says of its execution node. */
export function upstreamStatement(
  view: HealthView | null,
): Statement<ReasonOf<'UpstreamReachable'>> {
  if (view === null) return unobserved
  const { error, upstreamMode } = view
  if (error !== null) {
    const message = `${error.message} (${error.code})`
    return { reason: upstreamReasons[error.code] ?? 'Failing', message }
  }
  if (upstreamMode === 'websocket') {
    return { reason: 'WebSocket', message: 'New blocks are told over WebSocket.' }
  }
  if (upstreamMode === 'http') {
    return { reason: 'HttpOnly', message: 'New blocks are polled for over HTTP.' }
  }
  return { reason: 'Unreachable', message: 'The execution node does not answer.' }
}

/** What is known of a Host's peers. */
export interface PeerFacts {
  readonly referred: readonly Referred[]
  /** By ordinal, of replicas that run; null where one could not be asked. */
  readonly views: ReadonlyMap<number, HealthView | null>
}

/** Whether each replica of a Host has a peer; a lonely one is explained as far as it is known. */
export function peersStatement(
  host: Host,
  { referred, views }: PeerFacts,
): Statement<ReasonOf<'PeersConnected'>> {
  const { bootstrapPeers = [], generators = [] } = host.spec
  if (bootstrapPeers.length + generators.length === 0 && p2pExposure(host).type === 'None') {
    return {
      reason: 'NoPeersConfigured',
      message:
        'Name a peer: a Generator of this cluster in generators, or an address in bootstrapPeers.',
    }
  }
  const missing = referred.filter(({ generator }) => generator === null)
  const asked = [...views].flatMap(([ordinal, view]) => (view === null ? [] : [{ ordinal, view }]))
  const lonely = asked.filter(({ view }) => view.peers.length === 0)
  if (missing.length > 0 && (lonely.length > 0 || asked.length === 0)) {
    const names = missing.map(({ reference }) => `${reference.namespace}/${reference.name}`)
    return {
      reason: 'GeneratorMissing',
      message: `No such Generator: ${names.join(', ')}. Create it, or correct spec.generators.`,
    }
  }
  if (asked.length === 0) return unobserved
  if (lonely.length === 0) return connectedStatement(asked)
  return lonelyStatement(lonely, referred)
}

interface Asked {
  readonly ordinal: number
  readonly view: HealthView
}

function connectedStatement(asked: readonly Asked[]): Statement<'Connected'> {
  const fewest = Math.min(...asked.map(({ view }) => view.peers.length))
  return { reason: 'Connected', message: `Each replica has ${fewest} or more.` }
}

function lonelyStatement(
  lonely: readonly Asked[],
  referred: readonly Referred[],
): Statement<'PeerIDMismatch' | 'NotConnected'> {
  const ordinals = lonely.map(({ ordinal }) => ordinal).join(', ')
  const mismatch = lonely
    .map(({ view }) => view.error)
    .find((error) => error?.code === 'P2P_PEER_ID_MISMATCH')
  if (mismatch) return { reason: 'PeerIDMismatch', message: mismatch.message }
  const unknown = referred
    .filter(({ generator }) => generator?.status?.nodes?.[0]?.peerID === undefined)
    .map(({ reference }) => `${reference.namespace}/${reference.name}`)
  const hint =
    unknown.length > 0
      ? `the peer ID of ${unknown.join(', ')} is not known yet, see whether it runs`
      : 'see whether its peers run and port 9171 is open between them'
  return { reason: 'NotConnected', message: `No peer at replica ${ordinals}: ${hint}.` }
}

/** What is known of where a Host has its schema from. */
export interface SchemaFacts {
  readonly schemaSource: Required<GeneratorReference> | null
  /** A Generator that would let this Host have a key, and has none itself yet. */
  readonly keyless: Required<GeneratorReference> | null
  /** Whether Generators are named, but none lets this namespace have a key. */
  readonly isRefused: boolean
  readonly views: ReadonlyMap<number, HealthView | null>
}

/** Whether a Host's schema is its Generator's. */
export function schemaStatement(
  host: Host,
  { schemaSource: source, keyless, isRefused, views }: SchemaFacts,
): Statement<ReasonOf<'SchemaInSync'>> {
  if (isRefused) {
    return {
      reason: 'NotAllowed',
      message: `The embedded schema is used: no Generator of spec.generators has namespace ${host.metadata.namespace} in its spec.schemaAuth.allowedNamespaces.`,
    }
  }
  if (keyless !== null) {
    const message = `Generator ${keyless.namespace}/${keyless.name} has no schema key yet, or none that the operator may read; the embedded schema is used.`
    return { reason: 'Unreachable', message }
  }
  if (source === null) return { reason: 'Embedded', message: 'The embedded schema is used.' }
  const states = [...views.values()].flatMap((view) => view?.schema ?? [])
  const name = `${source.namespace}/${source.name}`
  if (states.length === 0) return unobserved
  if (states.includes('different')) {
    return {
      reason: 'Different',
      message: `Fields differ from those of Generator ${name}: run one version of both.`,
    }
  }
  if (states.every((state) => state === 'current')) {
    return { reason: 'Matched', message: `Equal to that of Generator ${name}.` }
  }
  const refused = [...views.values()].find(
    (view) => view?.error?.code === 'HOST_SCHEMA_UNAUTHORIZED',
  )
  return refused
    ? { reason: 'Unauthorized', message: `Generator ${name} refuses the key.` }
    : {
        reason: 'Unreachable',
        message: `The schema of Generator ${name} could not be read; the embedded one is used.`,
      }
}
