/** Conditions that speak of what replicas say at `/health`. */

import type { GeneratorReference } from '../../api/common-spec.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { Host } from '../../api.ts'
import { networkOf } from '../../resources/names.ts'
import { p2pExposure } from '../../resources/services.ts'
import {
  foreignGenerators,
  nameOf,
  peerIDOf,
  type Referred,
  unreadyReason,
} from '../generator-peers.ts'
import { listed } from '../listed.ts'
import type { Statement } from '../problem.ts'
import type { SchemaFacts } from '../schema-source.ts'
import { withoutStop } from '../sentences.ts'
import {
  type Asked,
  type AskedViews,
  askedOf,
  placesOf,
  sharedFailures,
  unobserved,
} from './asked.ts'
import type { HealthView } from './health-view.ts'
import type { ChangedGenerator } from './host-signers.ts'
import { observedRow, rowOf } from './observed-codes.ts'

/** What a Generator says of its execution node. */
export function upstreamStatement(
  view: HealthView | null,
): Statement<ReasonOf<'UpstreamReachable'>> {
  if (view === null) return unobserved
  const { errors, upstreamMode } = view
  const error = errors.find(({ code }) => !isOfAnother(code))
  if (error !== undefined) return troubledStatement(error)
  if (upstreamMode === 'websocket') {
    return { reason: 'WebSocket', message: 'New blocks are told over WebSocket.' }
  }
  if (upstreamMode === 'http') {
    return { reason: 'HttpOnly', message: 'New blocks are polled for over HTTP.' }
  }
  const remedy = rowOf('CHAIN_UNREACHABLE', 'UpstreamReachable')?.remedy
  const message = `The execution node does not answer. ${remedy}`
  return { reason: 'Unreachable', message }
}

/** What no condition follows is taken for trouble with the node, of which a Generator speaks most. */
function isOfAnother(code: string): boolean {
  const row = observedRow(code)
  return row !== undefined && row.condition !== 'UpstreamReachable'
}

function troubledStatement({
  code,
  message,
  remedy = 'See the log of the pod.',
}: HealthView['errors'][number]): Statement<ReasonOf<'UpstreamReachable'>> {
  const row = rowOf(code, 'UpstreamReachable')
  const what = `${withoutStop(message)} (${code})`
  return { reason: row?.reason ?? 'Failing', message: `${what}. ${row?.remedy ?? remedy}` }
}

/** What is known of a Host's peers. */
export interface PeerFacts {
  readonly referred: readonly Referred[]
  /** Generators that it is not led to, since they say another identity than the accepted one. */
  readonly changed: readonly Pick<ChangedGenerator, 'generator'>[]
  readonly views: AskedViews
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
  const useless = foreign.map(peerIDOf)
  const asked = askedOf(views)
  const lonely = asked.filter(({ view }) => view.peers.every((id) => useless.includes(id)))
  if (missing.length > 0 && (lonely.length > 0 || asked.length === 0)) {
    return missingGeneratorStatement(missing)
  }
  if (asked.length === 0) return unobserved
  const concerned = lonely.length === 0 ? asked : lonely
  const mismatch = mismatchText(host, referred, concerned)
  const other = foreignText(host, foreign) ?? toldText('PrefixMismatch', concerned)
  const unreached = toldText('NotConnected', concerned)
  if (lonely.length === 0) return connectedStatement([mismatch, other, unreached])
  if (mismatch !== null) return { reason: 'PeerIDMismatch', message: mismatch }
  if (other !== null) {
    const message = `No peer of its chain at ${placesOf(lonely)}. ${other}`
    return { reason: 'PrefixMismatch', message }
  }
  const { reason, message } = notConnectedStatement(host, lonely, { referred, changed })
  return { reason, message: unreached === null ? message : `${message} ${unreached}` }
}

/** What replicas say themselves that comes to this reason, and what to do; null for nothing. */
function toldText(reason: ReasonOf<'PeersConnected'>, asked: readonly Asked[]): string | null {
  for (const { failure, text, ordinals } of sharedFailures(asked)) {
    const row = rowOf(failure.code, 'PeersConnected')
    if (row?.reason !== reason) continue
    const what = `Replica ${ordinals.join(', ')}: ${text} (${failure.code}).`
    return `${what} ${row.remedy ?? failure.remedy ?? ''}`
  }
  return null
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

function connectedStatement(
  remarks: readonly (string | null)[],
): Statement<'Connected' | 'ConnectedInPart'> {
  const told = remarks.filter((remark) => remark !== null)
  const reason = told.length === 0 ? 'Connected' : 'ConnectedInPart'
  return { reason, message: ['Every replica that answers has a peer.', ...told].join(' ') }
}

/** Of the first replica that meets somebody else in the place of a peer, and what to do; null of none. */
function mismatchText(
  { spec: { bootstrapPeers = [] } }: Host,
  referred: readonly Referred[],
  asked: readonly Asked[],
): string | null {
  for (const { ordinal, view } of asked) {
    const error = view.errors.find(
      ({ code }) => rowOf(code, 'PeersConnected')?.reason === 'PeerIDMismatch',
    )
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
  { referred, changed }: Pick<PeerFacts, 'referred' | 'changed'>,
): Statement<'NotConnected'> {
  const where = `No peer at ${placesOf(lonely)}`
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
  readonly views: AskedViews
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
  const asked = askedOf(views)
  const states = asked.flatMap(({ view }) => view.schema ?? [])
  const name = `${source.namespace}/${source.name}`
  if (states.length === 0) return unobserved
  const told = schemaTrouble(name, asked)
  if (told !== null) return told
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

/** What replicas tell of the schema themselves; null for nothing. */
function schemaTrouble(
  name: string,
  asked: readonly Asked[],
): Statement<ReasonOf<'SchemaInSync'>> | null {
  for (const { failure, text: why } of sharedFailures(asked)) {
    const reason = rowOf(failure.code, 'SchemaInSync')?.reason
    if (reason === undefined) continue
    if (reason === 'Unauthorized') {
      const message = `Generator ${name} refuses the key, and the embedded schema is used: ${why}. It reads its keys when it starts; where their Secret was changed since, set its annotation viewmesh.io/roll-at.`
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
