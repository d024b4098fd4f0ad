/** Conditions about what replicas report at `/health`. */
import { peerAtEnd } from '../../../src/service/settings/peer-at-end.ts'
import { isPeerID } from '../../../src/service/settings/peer-id-text.ts'
import type { GeneratorReference } from '../../api/common-spec.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { Host, Workload } from '../../api.ts'
import { networkOf } from '../../resources/names/names.ts'
import { p2pExposure } from '../../resources/objects/services.ts'
import type { ChangedGenerator } from '../evaluate/host-signers.ts'
import { observedRow, rowOf } from '../evaluate/observed-codes.ts'
import {
  chainIDOf,
  foreignGenerators,
  nameOf,
  peerIDOf,
  type Referred,
  repeatedGenerators,
  unreadyReason,
} from '../fetch/generator-peers.ts'
import type { SchemaFacts } from '../fetch/schema-source.ts'
import type { HealthView } from '../observe/health-view.ts'
import {
  placesOf,
  type ReplicaViews,
  type ReportingReplica,
  reportingReplicas,
  sharedFailures,
  unobserved,
} from '../observe/reporting-replicas.ts'
import type { Statement } from '../statements/problem.ts'
import { listed, withoutStop } from '../statements/sentences.ts'
import { peerReach } from './peer-reach.ts'

/** What a Generator says of its execution node. */
export function upstreamStatement(
  view: HealthView | null,
): Statement<ReasonOf<'UpstreamReachable'>> {
  if (view === null) return unobserved
  const { errors, upstreamMode, headStandsSince } = view
  const error = errors.find(({ code }) => !isOfAnother(code))
  if (error !== undefined) return failureStatement(error)
  if (headStandsSince !== null && upstreamMode !== 'offline') {
    const message = `The execution node responds, and its head has stood still since ${headStandsSince}. See whether it is in sync and has its consensus client; a chain that rests looks the same.`
    return { reason: 'HeadStandsStill', message }
  }
  if (upstreamMode === 'websocket') {
    return { reason: 'WebSocket', message: 'New blocks are reported over WebSocket.' }
  }
  if (upstreamMode === 'http') {
    return { reason: 'HttpOnly', message: 'New blocks are polled for over HTTP.' }
  }
  const remedy = rowOf('CHAIN_UNREACHABLE', 'UpstreamReachable')?.remedy
  const message = `The execution node does not answer. ${remedy}`
  return { reason: 'Unreachable', message }
}

/** A code that no condition is about is taken for a failure of the node, which a Generator reports most. */
function isOfAnother(code: string): boolean {
  const row = observedRow(code)
  return row !== undefined && row.condition !== 'UpstreamReachable'
}

function failureStatement({
  code,
  message,
  remedy = 'See the log of the pod.',
}: HealthView['errors'][number]): Statement<ReasonOf<'UpstreamReachable'>> {
  const row = rowOf(code, 'UpstreamReachable')
  const what = `${withoutStop(message)} (${code})`
  return { reason: row?.reason ?? 'Failing', message: `${what}. ${row?.remedy ?? remedy}` }
}

/** What is known of a Host's peers. */
interface PeerFacts {
  readonly referred: readonly Referred[]
  /** Generators that it is not led to, since they say another identity than the accepted one. */
  readonly changed: readonly Pick<ChangedGenerator, 'generator'>[]
  readonly views: ReplicaViews
}

/** Whether each replica of a Host has a peer; a lonely one is explained as far as it is known. */
export function peersStatement(
  host: Host,
  { referred, changed, views }: PeerFacts,
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
  const reporting = reportingReplicas(views)
  const { isolated, indirect } = peerReach(reporting, {
    siblings: siblingsOf(host, referred, reporting),
    useless: new Set(foreign.flatMap((one) => peerIDOf(one) ?? [])),
  })
  if (missing.length > 0 && (isolated.length > 0 || reporting.length === 0)) {
    return missingGeneratorStatement(missing)
  }
  if (reporting.length === 0) return unobserved
  const concerned = isolated.length === 0 ? reporting : isolated
  const mismatch = mismatchText(host, referred, concerned)
  const other = foreignText(host, foreign) ?? reportedText('PrefixMismatch', concerned)
  const unreached = reportedText('NotConnected', concerned)
  if (isolated.length === 0) {
    const remarks = [mismatch, other, unreached, repeatedText(host), impossibleText(host)]
    return connectedStatement([indirectText(indirect), ...remarks])
  }
  if (mismatch !== null) return { reason: 'PeerIDMismatch', message: mismatch }
  if (other !== null) {
    const message = `No peer of its chain at ${placesOf(isolated)}. ${other}`
    return { reason: 'PrefixMismatch', message }
  }
  const { reason, message } = notConnectedStatement(host, isolated, { referred, changed })
  const texts = [message, unreached, impossibleText(host)].filter((text) => text !== null)
  return { reason, message: texts.join(' ') }
}

/** Peer IDs of replicas. One that says the ID of a Generator does not make that a replica. */
function siblingsOf(
  { status }: Host,
  referred: readonly Referred[],
  reporting: readonly ReportingReplica[],
): Set<string> {
  const own = new Set(reporting.flatMap(({ view }) => view.peerID ?? []))
  for (const { peerID } of status?.nodes ?? []) if (peerID !== undefined) own.add(peerID)
  for (const one of referred) own.delete(peerIDOf(one) ?? '')
  return own
}

function indirectText(indirect: readonly ReportingReplica[]): string | null {
  if (indirect.length === 0) return null
  const verb = indirect.length === 1 ? 'has' : 'have'
  return `Of those ${placesOf(indirect)} ${verb} no peer but other replicas, which hand on what they get: see whether port 9171 is open from there.`
}

/** What replicas say themselves that comes to this reason, and what to do; null for nothing. */
function reportedText(
  reason: ReasonOf<'PeersConnected'>,
  reporting: readonly ReportingReplica[],
): string | null {
  for (const { failure, text, ordinals } of sharedFailures(reporting)) {
    const row = rowOf(failure.code, 'PeersConnected')
    if (row?.reason !== reason) continue
    return `Replica ${ordinals.join(', ')}: ${text} (${failure.code}). ${row.remedy}`
  }
  return null
}

/** Which addresses replicas leave out, since no key has such an ID: a rule of the API server cannot see that. Null for none. */
function impossibleText({ spec: { bootstrapPeers = [] } }: Host): string | null {
  const wrong = bootstrapPeers.filter((address) => !isPeerID(peerAtEnd(address)))
  if (wrong.length === 0) return null
  return `Left out of spec.bootstrapPeers, since no peer can have such an ID: ${listed(wrong)}. Copy it again from p2p.self.id in the /health of that node.`
}

/** Which Generators are named twice, which does no harm; null for none. */
function repeatedText(host: Host): string | null {
  const names = repeatedGenerators(host)
  if (names.length === 0) return null
  return `Generator ${listed(names)} is named more than once in spec.generators, with its namespace and without, and counts once: leave one of the two out.`
}

/** Which Generators are of another chain, and what to do; null for none. */
function foreignText(host: Host, foreign: readonly Referred[]): string | null {
  const names = foreign.flatMap(({ reference, generator }) =>
    generator === null
      ? []
      : [
          `${reference.namespace}/${reference.name} (${chainText(generator, chainIDOf(generator))})`,
        ],
  )
  if (names.length === 0) return null
  return `Of another chain than this Host (${chainText(host, host.spec.chain.id ?? null)}): Generator ${listed(names)}. Correct spec.generators, or create another Host for that chain.`
}

function chainText(resource: Workload, id: number | null): string {
  return id === null ? networkOf(resource) : `${networkOf(resource)}, chain ID ${id}`
}

/** A Generator that is not seen may exist all the same, in a namespace that is not watched. */
function missingGeneratorStatement(
  missing: readonly Referred[],
): Statement<'GeneratorMissing' | 'GeneratorNotWatched'> {
  const unseen = missing.filter(({ isWatched }) => !isWatched)
  const reported = unseen.length > 0 ? unseen : missing
  const names = reported.map(nameOf).join(', ')
  if (unseen.length === 0) {
    return {
      reason: 'GeneratorMissing',
      message: `No such Generator: ${names}. Create it, or correct spec.generators.`,
    }
  }
  return {
    reason: 'GeneratorNotWatched',
    message: `This operator does not watch the namespace of Generator ${names}: add it to the operator's namespaces (scope.namespaces of its chart), or write the address of the Generator into spec.bootstrapPeers.`,
  }
}

function connectedStatement(
  remarks: readonly (string | null)[],
): Statement<'Connected' | 'ConnectedInPart'> {
  const reported = remarks.filter((remark) => remark !== null)
  const reason = reported.length === 0 ? 'Connected' : 'ConnectedInPart'
  return { reason, message: ['Every replica that answers has a peer.', ...reported].join(' ') }
}

/** Of the first replica that finds another peer in the place of one, and what to do; null of none. */
function mismatchText(
  { spec: { bootstrapPeers = [] } }: Host,
  referred: readonly Referred[],
  reporting: readonly ReportingReplica[],
): string | null {
  for (const { ordinal, view } of reporting) {
    const error = view.errors.find(
      ({ code }) => rowOf(code, 'PeersConnected')?.reason === 'PeerIDMismatch',
    )
    if (error === undefined) continue
    const discovered = referred.flatMap((one) => peerIDOf(one) ?? [])
    const isDiscovered = discovered.some((id) => id === error.expected_peer)
    const remedy =
      isDiscovered || bootstrapPeers.length === 0
        ? 'The expected ID was discovered from a Generator, and is discovered again once that one answers.'
        : 'If that is the peer you mean, write its ID into spec.bootstrapPeers, else correct the address there.'
    return `Replica ${ordinal}: ${error.message}. ${remedy}`
  }
  return null
}

function notConnectedStatement(
  { spec: { bootstrapPeers = [], generators = [] } }: Host,
  isolated: readonly ReportingReplica[],
  { referred, changed }: Pick<PeerFacts, 'referred' | 'changed'>,
): Statement<'NotConnected'> {
  const isAlone = isolated.every(({ view }) => view.peers.length === 0)
  const where = `No peer${isAlone ? '' : ' but each other'} at ${placesOf(isolated)}`
  if (changed.length > 0) {
    const names = listed(changed.map(({ generator }) => generator))
    const message = `${where}. It is not given the address of Generator ${names}, which says another identity than the one accepted of it: see SignersAgree.`
    return { reason: 'NotConnected', message }
  }
  const unready = referred.filter((one) => unreadyReason(one) !== null)
  const hasOthers = bootstrapPeers.length + generators.length > unready.length
  const [first] = unready
  if (first === undefined) {
    return { reason: 'NotConnected', message: `${where}: ${reachableHint(referred)}.` }
  }
  const names = unready.map((one) => `${nameOf(one)} (${unreadyReason(one)})`)
  const { namespace, name } = first.reference
  const isMeant = unready.every((one) => unreadyReason(one) === 'Suspended')
  const state = isMeant ? 'suspended' : 'not Ready'
  const cause = `${where}, and ${state}: Generator ${listed(names)}. kubectl describe generator ${name} --namespace ${namespace} says why.`
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
interface SeenSchema extends SchemaFacts {
  readonly referred: readonly Referred[]
  readonly views: ReplicaViews
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
  const reporting = reportingReplicas(views)
  const states = reporting.flatMap(({ view }) => view.schema ?? [])
  const name = `${source.namespace}/${source.name}`
  if (states.length === 0) return unobserved
  const reported = schemaFailure(name, reporting)
  if (reported !== null) return reported
  if (states.includes('different')) {
    return {
      reason: 'Different',
      message: `Fields differ from those of Generator ${name}: run one version of both.`,
    }
  }
  if (states.every((state) => state === 'current')) {
    return { reason: 'Matched', message: `Equal to that of Generator ${name}.` }
  }
  return unreachable(name)
}

function unreachable(name: string, why = ''): Statement<'Unreachable'> {
  const message = `The schema of Generator ${name} could not be read, and the embedded one is used: see whether it runs and port 8080 is open to it.${why}`
  return { reason: 'Unreachable', message }
}

/** What replicas report of the schema themselves; null for nothing. */
function schemaFailure(
  name: string,
  reporting: readonly ReportingReplica[],
): Statement<ReasonOf<'SchemaInSync'>> | null {
  for (const { failure, text: why } of sharedFailures(reporting)) {
    const reason = rowOf(failure.code, 'SchemaInSync')?.reason
    if (reason === undefined) continue
    if (reason === 'Unauthorized') {
      const message = `Generator ${name} refuses the key, and the embedded schema is used: ${why}. It takes a key that was just changed within two minutes; if it stays so, set its annotation viewmesh.io/roll-at.`
      return { reason, message }
    }
    if (reason === 'Unreadable') {
      const message = `What Generator ${name} answers is no schema, and the embedded one is used: ${why}. Run one version of both.`
      return { reason, message }
    }
    return unreachable(name, ` It says: ${why}.`)
  }
  return null
}

/** The Generator to read the schema from, or where there is none all that are seen, if of another chain. */
function foreignSources(
  host: Host,
  referred: readonly Referred[],
  chosen: Required<GeneratorReference> | null,
): Referred[] {
  const candidates = referred.filter(({ generator, reference: { namespace, name } }) =>
    chosen === null ? generator !== null : namespace === chosen.namespace && name === chosen.name,
  )
  const foreign = foreignGenerators(host, candidates)
  return foreign.length === candidates.length ? foreign : []
}

function embeddedStatement({ spec }: Host): Statement<'Embedded' | 'GeneratorMissing'> {
  if ((spec.generators ?? []).length === 0) {
    return { reason: 'Embedded', message: 'No Generator is named, so the embedded schema is used.' }
  }
  const message =
    'No Generator of spec.generators is seen, so the embedded schema is used: see PeersConnected.'
  return { reason: 'GeneratorMissing', message }
}
