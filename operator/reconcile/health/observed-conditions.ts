/** Conditions that speak of what replicas say at `/health`. */

import type { ErrorCode } from '../../../src/errors.ts'
import type { GeneratorReference } from '../../api/common-spec.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { Host } from '../../api.ts'
import { claimName, networkOf, podName } from '../../resources/names.ts'
import { p2pExposure } from '../../resources/services.ts'
import { foreignGenerators, peerIDOf, type Referred, unreadyReason } from '../generator-peers.ts'
import { listed } from '../listed.ts'
import type { Statement } from '../problem.ts'
import type { SchemaFacts } from '../schema-source.ts'
import { withoutStop } from '../sentences.ts'
import type { HealthView } from './health-view.ts'
import { nearlyFullCode } from './nearly-full.ts'

const upstreamReasons: Readonly<Record<string, keyof typeof upstreamRemedies>> = {
  CHAIN_UNREACHABLE: 'Unreachable',
  CHAIN_TIMEOUT: 'Unreachable',
  CHAIN_UNAUTHORIZED: 'Unauthorized',
  CHAIN_METHOD_MISSING: 'MethodMissing',
}
const upstreamRemedies = {
  Unreachable: 'See whether it runs, and whether spec.upstream says where.',
  Unauthorized: 'Correct the Secret of spec.upstream.auth.',
  MethodMissing:
    'Correct spec.upstream, or switch on the eth methods of that node for HTTP and WebSocket.',
} as const
const unobserved = {
  reason: 'Unobserved',
  message: 'No pod could be asked for its health.',
} as const

/** What a Generator says of its execution node. */
export function upstreamStatement(
  view: HealthView | null,
): Statement<ReasonOf<'UpstreamReachable'>> {
  if (view === null) return unobserved
  const { errors, upstreamMode } = view
  const error = errors.find(({ code }) => code !== nearlyFullCode)
  if (error !== undefined) return troubledStatement(error)
  if (upstreamMode === 'websocket') {
    return { reason: 'WebSocket', message: 'New blocks are told over WebSocket.' }
  }
  if (upstreamMode === 'http') {
    return { reason: 'HttpOnly', message: 'New blocks are polled for over HTTP.' }
  }
  const message = `The execution node does not answer. ${upstreamRemedies.Unreachable}`
  return { reason: 'Unreachable', message }
}

function troubledStatement({
  code,
  message,
  remedy = 'See the log of the pod.',
}: HealthView['errors'][number]): Statement<ReasonOf<'UpstreamReachable'>> {
  const reason = upstreamReasons[code] ?? 'Failing'
  const what = `${withoutStop(message)} (${code})`
  return { reason, message: `${what}. ${reason === 'Failing' ? remedy : upstreamRemedies[reason]}` }
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
  const foreign = foreignGenerators(host, referred)
  const useless = foreign.map(peerIDOf)
  const asked = [...views].flatMap(([ordinal, view]) => (view === null ? [] : [{ ordinal, view }]))
  const lonely = asked.filter(({ view }) => view.peers.every((id) => useless.includes(id)))
  if (missing.length > 0 && (lonely.length > 0 || asked.length === 0)) {
    return missingGeneratorStatement(missing)
  }
  if (asked.length === 0) return unobserved
  const forked = asked.filter(({ view }) => view.errors.some(({ code }) => code === forkedCode))
  if (forked.length > 0) return forkedStatement(host, forked)
  const mismatch = mismatchText(host, referred, lonely.length === 0 ? asked : lonely)
  const other = foreignText(host, foreign)
  if (lonely.length === 0) return connectedStatement([mismatch, other])
  if (mismatch !== null) return { reason: 'PeerIDMismatch', message: mismatch }
  return other === null
    ? notConnectedStatement(host, lonely, referred)
    : { reason: 'PrefixMismatch', message: `No peer of its chain at ${placesOf(lonely)}. ${other}` }
}

const forkedCode: ErrorCode = 'HOST_FORK_TOO_DEEP'

/** The program's own remedy is about a machine without a cluster. */
function forkedStatement(
  host: Host,
  forked: readonly Asked[],
): Statement<ReasonOf<'PeersConnected'>> {
  const [{ ordinal } = { ordinal: 0 }] = forked
  const claim = claimName(host, 'data', ordinal)
  const message = `Peers are on another branch of the chain than what is stored by ${placesOf(forked)} (${forkedCode}). If theirs is the right one, have its blocks fetched anew: kubectl delete pvc ${claim} --wait=false, then kubectl delete pod ${podName(host, ordinal)}. Else correct spec.generators and spec.bootstrapPeers.`
  return { reason: 'ChainForked', message }
}

/** Which Generators are of another chain, and what to do; null for none. */
function foreignText(host: Host, foreign: readonly Referred[]): string | null {
  const names = foreign.flatMap(({ reference, generator }) =>
    generator === null
      ? []
      : [`${reference.namespace}/${reference.name} (${networkOf(generator)})`],
  )
  if (names.length === 0) return null
  return `Of another chain than this Host (${networkOf(host)}): Generator ${listed(names)}. Correct spec.generators, or create another Host for that chain.`
}

/** A Generator that is not seen may be there all the same, where nobody looks. */
function missingGeneratorStatement(
  missing: readonly Referred[],
): Statement<'GeneratorMissing' | 'GeneratorNotWatched'> {
  const unseen = missing.filter(({ isWatched }) => !isWatched)
  const told = unseen.length > 0 ? unseen : missing
  const names = told.map(nameOf).join(', ')
  if (unseen.length === 0) {
    return {
      reason: 'GeneratorMissing',
      message: `No such Generator: ${names}. Create it, or correct spec.generators.`,
    }
  }
  return {
    reason: 'GeneratorNotWatched',
    message: `This operator does not look after the namespace of Generator ${names}: add it to the operator's namespaces (scope.namespaces of its chart), or write the address of the Generator into spec.bootstrapPeers.`,
  }
}

interface Asked {
  readonly ordinal: number
  readonly view: HealthView
}

function connectedStatement(
  remarks: readonly (string | null)[],
): Statement<'Connected' | 'ConnectedInPart'> {
  const told = remarks.filter((remark) => remark !== null)
  const reason = told.length === 0 ? 'Connected' : 'ConnectedInPart'
  return { reason, message: ['Every replica that answers has a peer.', ...told].join(' ') }
}

function nameOf({ reference: { namespace, name } }: Referred): string {
  return `${namespace}/${name}`
}

function placesOf(asked: readonly Asked[]): string {
  return `replica ${asked.map(({ ordinal }) => ordinal).join(', ')}`
}

/** Of the first replica that meets somebody else in the place of a peer, and what to do; null of none. */
function mismatchText(
  { spec: { bootstrapPeers = [] } }: Host,
  referred: readonly Referred[],
  asked: readonly Asked[],
): string | null {
  for (const { ordinal, view } of asked) {
    const error = view.errors.find(({ code }) => code === 'P2P_PEER_ID_MISMATCH')
    if (error === undefined) continue
    const learnt = referred.flatMap((one) => peerIDOf(one) ?? [])
    const isLearnt = learnt.some((id) => id === error.expected_peer)
    const remedy =
      isLearnt || bootstrapPeers.length === 0
        ? 'The expected ID was learnt from a Generator, and is learnt anew once that one answers.'
        : 'If that is the peer you mean, write its ID into spec.bootstrapPeers, else correct the address there.'
    return `Replica ${ordinal}: ${error.message}. ${remedy}`
  }
  return null
}

function notConnectedStatement(
  { spec: { bootstrapPeers = [], generators = [] } }: Host,
  lonely: readonly Asked[],
  referred: readonly Referred[],
): Statement<'NotConnected'> {
  const where = `No peer at ${placesOf(lonely)}`
  const unready = referred.filter((one) => unreadyReason(one) !== null)
  const hasOthers = bootstrapPeers.length + generators.length > unready.length
  const [first] = unready
  if (first === undefined) {
    return { reason: 'NotConnected', message: `${where}: ${reachableHint(referred)}.` }
  }
  const names = unready.map((one) => `${nameOf(one)} (${unreadyReason(one)})`)
  const { namespace, name } = first.reference
  const cause = `${where}, and not Ready: Generator ${listed(names)}. kubectl describe generator ${name} --namespace ${namespace} says why.`
  const rest = ' See also whether its other peers run and port 9171 is open between them.'
  return { reason: 'NotConnected', message: hasOthers ? `${cause}${rest}` : cause }
}

function reachableHint(referred: readonly Referred[]): string {
  const unknown = referred.filter((one) => peerIDOf(one) === undefined)
  return unknown.length > 0
    ? `the peer ID of ${unknown.map(nameOf).join(', ')} is not known yet, see whether it runs`
    : 'see whether its peers run and port 9171 is open between them'
}

/** What is known of a Host's schema. */
export interface SeenSchema extends SchemaFacts {
  readonly referred: readonly Referred[]
  readonly views: ReadonlyMap<number, HealthView | null>
}

/** Whether a Host's schema is its Generator's. */
export function schemaStatement(
  host: Host,
  { schemaSource: source, keyless, isRefused, awaited, referred, views }: SeenSchema,
): Statement<ReasonOf<'SchemaInSync'>> {
  const other = foreignText(host, foreignSources(host, referred, source ?? keyless))
  if (other !== null) return { reason: 'PrefixMismatch', message: other }
  if (isRefused) {
    return {
      reason: 'NotAllowed',
      message: `The embedded schema is used, since no Generator of spec.generators lets this namespace have a key: add ${host.metadata.namespace} to spec.schemaAuth.allowedNamespaces there.`,
    }
  }
  if (awaited !== null) return unobserved
  if (keyless !== null) {
    const message = `Generator ${keyless.namespace}/${keyless.name} has no schema key yet, or none that the operator may read, and the embedded schema is used: see whether the Secret with its keys is there.`
    return { reason: 'Unreachable', message }
  }
  if (source === null) return embeddedStatement(host)
  const asked = [...views.values()].filter((view) => view !== null)
  const states = asked.flatMap(({ schema }) => schema ?? [])
  const name = `${source.namespace}/${source.name}`
  if (states.length === 0) return unobserved
  const refusal = asked
    .flatMap(({ errors }) => errors)
    .find(({ code }) => code === 'HOST_SCHEMA_UNAUTHORIZED')
  if (refusal !== undefined) {
    return {
      reason: 'Unauthorized',
      message: `Generator ${name} refuses the key, and the embedded schema is used: ${refusal.message}. It reads its keys when it starts; where their Secret was changed since, set its annotation viewmesh.io/roll-at.`,
    }
  }
  if (states.includes('different')) {
    return {
      reason: 'Different',
      message: `Fields differ from those of Generator ${name}: run one version of both.`,
    }
  }
  if (states.every((state) => state === 'current')) {
    return { reason: 'Matched', message: `Equal to that of Generator ${name}.` }
  }
  return {
    reason: 'Unreachable',
    message: `The schema of Generator ${name} could not be read, and the embedded one is used: see whether it runs and port 8080 is open to it.`,
  }
}

/** The Generator to read the schema from, or where there is none all that are seen, if of another chain. */
function foreignSources(
  host: Host,
  referred: readonly Referred[],
  chosen: Required<GeneratorReference> | null,
): Referred[] {
  const judged = referred.filter(({ generator, reference: { namespace, name } }) =>
    chosen === null ? generator !== null : namespace === chosen.namespace && name === chosen.name,
  )
  const foreign = foreignGenerators(host, judged)
  return foreign.length === judged.length ? foreign : []
}

function embeddedStatement({ spec }: Host): Statement<'Embedded' | 'GeneratorMissing'> {
  if ((spec.generators ?? []).length === 0) {
    return { reason: 'Embedded', message: 'No Generator is named, so the embedded schema is used.' }
  }
  const message =
    'No Generator of spec.generators is seen, so the embedded schema is used: see PeersConnected.'
  return { reason: 'GeneratorMissing', message }
}
