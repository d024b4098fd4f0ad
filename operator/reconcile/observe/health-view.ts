/** What a replica says of itself at `/health`, as far as status and other resources need it. */
import {
  type FailureReport,
  type HealthReport,
  type SchemaState,
  type TrustMode,
  trustModes,
  type UnreadyReason,
  type UpstreamMode,
  unreadyReasons,
} from '../../../src/service/contract.ts'
import type { AcceptedSigner } from '../../api/status.ts'
import { apartFromText } from '../../resources/names/unchecked-json.ts'
import { parseIdentity } from './signing-identity.ts'
import type { ViewAtReplica } from './view-at-replica.ts'

/** What one health check of a replica returned. */
export interface HealthView {
  readonly peerID: string | null
  /** The public key it signs with; null where it says none, or what is none. */
  readonly identity: string | null
  /** Hash of block 0 of what it stores; null before it is known. */
  readonly genesis: string | null
  /** What its execution node says; null of a Host. */
  readonly chainID: number | null
  readonly head: number | null
  /** When it stored its newest block, RFC 3339. */
  readonly lastBlockTime: string | null
  /** Since when the head of its node is what it is, where that is longer than blocks take; null where it moves. */
  readonly headStandsSince: string | null
  readonly lag: number | null
  /** IDs of connected peers. */
  readonly peers: readonly string[]
  readonly upstreamMode: UpstreamMode | null
  readonly schema: SchemaState | null
  /** Null of a Generator, and of Hosts of earlier versions. */
  readonly trust: TrustMode | null
  /** Whom it accepts as signers, by their identities; null of a Generator. */
  readonly signers: readonly AcceptedSigner[] | null
  /** Why it is not ready; null where it is, and of programs of earlier versions. */
  readonly unready: UnreadyReason | null
  /** What needs attention, the worst first. */
  readonly errors: readonly FailureReport[]
  /** The Views it was asked for, as far as it knows them; null where it did not answer that, left out where nobody asked. */
  readonly views?: readonly ViewAtReplica[] | null
}

const maxMessage = 512
const maxErrors = 20
const maxSigners = 512
/** More than a program has connections. */
const maxPeers = 1_024

/**
 * Reads the body of an answer; null where it is not one of ours. The body comes from a pod, so nothing
 * in it is trusted to have its shape.
 */
export function parseHealth(text: string): HealthView | null {
  const report = parseObject(text)
  if (report === null || (report.program !== 'generator' && report.program !== 'host')) return null
  const { p2p, schema, unready } = report
  const peers: readonly unknown[] = Array.isArray(p2p?.peers) ? p2p.peers : []
  return apartFromText({
    peerID: peerIDOf(p2p?.self?.id),
    identity: parseIdentity(report.identity),
    genesis: parseHash(report.genesis),
    chainID: heightOf(report.chain_id),
    head: heightOf(report.head),
    lastBlockTime: timeOf(report.last_processed),
    headStandsSince: standsSince(report),
    lag: heightOf(report.lag),
    peers: peers.slice(0, maxPeers).flatMap((peer) => textOf(Object(peer)['id']) ?? []),
    upstreamMode: oneOf(report.upstream_mode, ['websocket', 'http', 'offline']),
    schema: oneOf(schema?.state, ['embedded', 'current', 'different']),
    trust: oneOf(report.trust, trustModes),
    signers: signersOf(report.signers),
    unready: oneOf(unready?.reason, unreadyReasons),
    errors: errorsOf(report),
  })
}

/** A program that does not know its own peer ID yet is still starting, and what it says means little. */
export function hasStarted(view: HealthView | null | undefined): view is HealthView {
  return view !== null && view !== undefined && view.peerID !== null
}

/** Whether something changed that conditions speak of; heights move all the time, and so do peers. */
export function isSameState(a: HealthView | null, b: HealthView | null): boolean {
  const state = (view: HealthView | null): string =>
    JSON.stringify(
      view && {
        ...view,
        ...{ head: null, lastBlockTime: null, lag: null, peers: view.peers.length > 0 },
        views: view.views?.map((hosted) => ({ ...hosted, rows: null, lastBlock: null })),
      },
    )
  return state(a) === state(b)
}

/** How long a head may be the newest one: more than any public chain takes for some blocks. */
const longestHeadMs = 60_000

/** Both times are of the program's clock. */
function standsSince(report: Unchecked): string | null {
  const since = timeOf(report.source_head_since)
  const now = timeOf(report.timestamp)
  if (since === null || now === null) return null
  return Date.parse(now) - Date.parse(since) >= longestHeadMs ? since : null
}

/** Each identity once, in an order that does not change with what is heard of them. */
function signersOf(value: unknown): HealthView['signers'] {
  if (!Array.isArray(value)) return null
  const entries: readonly unknown[] = value
  const found = new Map<string, AcceptedSigner>()
  for (const entry of entries.slice(0, maxSigners)) {
    const signer = parseSigner(Object(entry))
    if (signer !== null) found.set(signer.identity, signer)
  }
  return [...found.values()].toSorted((a, b) => (a.identity < b.identity ? -1 : 1))
}

function parseSigner(entry: Readonly<Record<string, unknown>>): AcceptedSigner | null {
  const identity = parseIdentity(entry['identity'])
  const source = oneOf(entry['source'], ['setting', 'file', 'bootstrap', 'anyone'])
  const peer = peerIDOf(entry['peer'])
  if (identity === null || source === null) return null
  return { identity, source, ...(peer === null ? {} : { peer }) }
}

/** Programs of earlier versions report one error only. */
function errorsOf({ error, errors }: Unchecked): HealthView['errors'] {
  const entries: readonly unknown[] = Array.isArray(errors) ? errors : [error]
  return entries.slice(0, maxErrors).flatMap((entry) => parseFailure(Object(entry)) ?? [])
}

function parseFailure(entry: Readonly<Record<string, unknown>>): FailureReport | null {
  const { code, message, remedy, expected_peer: expected } = entry
  const peer = textOf(expected)
  if (typeof code !== 'string' || typeof message !== 'string') return null
  return {
    code: code.slice(0, maxMessage),
    message: message.slice(0, maxMessage),
    ...(typeof remedy === 'string' && { remedy: remedy.slice(0, maxMessage) }),
    ...(peer !== null && { expected_peer: peer }),
  }
}

type Unchecked = {
  readonly [N in keyof HealthReport]?: HealthReport[N] | undefined
}

function parseObject(text: string): Unchecked | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}

/** It becomes part of addresses that others read. */
function peerIDOf(value: unknown): string | null {
  const id = textOf(value)
  return id !== null && /^[A-Za-z0-9]+$/.test(id) ? id : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= 128 ? value : null
}

/** A hash of 32 bytes as programs write it; null for anything else. */
export function parseHash(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value) ? value : null
}

/** A time as Kubernetes writes it, in whole seconds; null for anything else. */
function timeOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 40 || !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value))
    return null
  const timeMs = Date.parse(value)
  return Number.isNaN(timeMs) ? null : `${new Date(timeMs).toISOString().slice(0, 19)}Z`
}

function heightOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null
}

function oneOf<T extends string>(value: unknown, known: readonly T[]): T | null {
  return known.find((text) => text === value) ?? null
}
