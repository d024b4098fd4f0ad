/** What status says of each replica, and of all of them together. */
import type { NodeStatus } from '../../api/status.ts'
import type { Workload } from '../../api.ts'
import { externalAddresses, peerAddressesOf } from '../../resources/names/addresses.ts'
import { specOrdinals } from '../../resources/names/names.ts'
import type { Keyring } from '../fetch/keyring.ts'
import { isLasting, type KeptClaim, keysClaim, type PlacedClaim } from '../observe/claim.ts'
import type { HealthView } from '../observe/health-view.ts'
import type { Statement } from '../statements/problem.ts'

export interface NodeFacts {
  /** Claims of all ordinals. */
  readonly claims: readonly PlacedClaim[]
  /** Null where it was not fetched. */
  readonly keyring: Pick<Keyring, 'exists' | 'fingerprints'> | null
  /** By ordinal, of running pods: null where one does not answer, undefined before it was asked. */
  readonly views: ReadonlyMap<number, HealthView | null | undefined>
  /** By hash of block 0: the chain ID, as others say it of that chain. */
  readonly chainIDs: ReadonlyMap<string, number>
  /** By ordinal: discovered external addresses. */
  readonly discovered: readonly (readonly string[])[]
  readonly clusterDomain: string
}

/** What is known of each replica of the spec, and the identities of those that may return. */
export function nodeStatuses(resource: Workload, facts: NodeFacts): NodeStatus[] {
  const before = new Map((resource.status?.nodes ?? []).map((node) => [node.ordinal, node]))
  const current = specOrdinals(resource).map((ordinal) =>
    nodeStatus(resource, ordinal, before.get(ordinal), facts),
  )
  const resting = [...before.values()]
    .filter((node) => node.ordinal >= current.length && node.keyringFingerprint !== undefined)
    .filter(({ ordinal }) => !isGivenUp(ordinal, facts))
    .map(identityOf)
  return [...current, ...resting].toSorted((a, b) => a.ordinal - b.ordinal)
}

/** Of a replica that rests neither key nor claim is left, and the others' keys are: that was meant. */
function isGivenUp(ordinal: number, { claims, keyring }: NodeFacts): boolean {
  if (keyring === null || !keyring.exists || keyring.fingerprints.has(ordinal)) return false
  return keysClaimOf(ordinal, claims) === undefined
}

function keysClaimOf(ordinal: number, claims: readonly PlacedClaim[]): KeptClaim | undefined {
  return claims.find((one) => one.volume === 'keys' && one.ordinal === ordinal)?.claim
}

function nodeStatus(
  resource: Workload,
  ordinal: number,
  before: NodeStatus | undefined,
  { claims, views, chainIDs, discovered, clusterDomain }: NodeFacts,
): NodeStatus {
  const view = views.get(ordinal)
  const identity = identityNow(resource, ordinal, before, { claims, view: view ?? null })
  const addresses = peerAddressesOf(resource, {
    ordinal,
    peerID: identity.peerID ?? null,
    external: externalAddresses(resource, ordinal, discovered),
    clusterDomain,
  })
  const signer = signerNow(identity, before, view ?? null)
  return {
    ...identity,
    ...(signer === undefined ? {} : { identity: signer }),
    ...chainNow(identity, before, { view: view ?? null, chainIDs }),
    ...(addresses.length === 0 ? {} : { addresses }),
    ...figuresNow(resource, before, view),
  }
}

/**
 * The mark of the claim, and the peer ID for as long as the key stays the same. A claim that is
 * terminating says nothing new: it may be that of a deleted resource.
 */
function identityNow(
  resource: Workload,
  ordinal: number,
  before: NodeStatus | undefined,
  { claims, view }: Pick<NodeFacts, 'claims'> & { readonly view: HealthView | null },
): NodeStatus {
  const claim = keysClaimOf(ordinal, claims)
  const isKnown = claim !== undefined && isLasting(resource, claim)
  const { fingerprint = null, uid } = isKnown ? keysClaim(claim) : {}
  if (fingerprint === null || uid === undefined) {
    const peerID = before?.peerID ?? view?.peerID ?? undefined
    return { ...identityOf(before ?? { ordinal }), ...(peerID === undefined ? {} : { peerID }) }
  }
  const isSameKey = before?.keyringFingerprint === fingerprint
  const peerID = (isSameKey ? before?.peerID : undefined) ?? view?.peerID ?? undefined
  return {
    ordinal,
    ...(peerID === undefined ? {} : { peerID }),
    keyringFingerprint: fingerprint,
    keysClaimUID: uid,
  }
}

/**
 * Which chain it stores, where the answer is of the peer that it is known as; else what it said last. A Host does not
 * know its chain ID.
 */
function chainNow(
  { peerID }: NodeStatus,
  before: NodeStatus | undefined,
  { view, chainIDs }: Pick<NodeFacts, 'chainIDs'> & { readonly view: HealthView | null },
): Pick<NodeStatus, 'genesis' | 'chainID'> {
  const { genesis, chainID: said } = (view?.peerID === peerID ? view : before) ?? {}
  if (!genesis) return said ? { chainID: said } : {}
  const kept = before?.genesis === genesis ? before.chainID : undefined
  const chainID = said ?? chainIDs.get(genesis) ?? kept
  return { genesis, ...(chainID ? { chainID } : {}) }
}

/**
 * What it says it signs with, where the answer is of the peer that it is known as; else what it said last with the
 * same key directory.
 */
function signerNow(
  { peerID, keysClaimUID }: NodeStatus,
  before: NodeStatus | undefined,
  view: HealthView | null,
): string | undefined {
  const said = view !== null && view.peerID === peerID ? view.identity : null
  const isOfBefore = [undefined, keysClaimUID].includes(before?.keysClaimUID)
  return said ?? (isOfBefore ? before?.identity : undefined)
}

function identityOf({
  ordinal,
  peerID,
  identity,
  keyringFingerprint,
  keysClaimUID,
}: NodeStatus): NodeStatus {
  return {
    ordinal,
    ...(peerID === undefined ? {} : { peerID }),
    ...(identity === undefined ? {} : { identity }),
    ...(keyringFingerprint === undefined ? {} : { keyringFingerprint }),
    ...(keysClaimUID === undefined ? {} : { keysClaimUID }),
  }
}

type Figures = Pick<NodeStatus, 'head' | 'lastBlockTime' | 'lag' | 'peers' | 'upstreamMode'>

/** Those from before, until a pod that is wanted was asked. */
function figuresNow(
  { spec }: Workload,
  before: NodeStatus | undefined,
  view: HealthView | null | undefined,
): Figures {
  const isKept = view === undefined && before !== undefined && !spec.suspend
  return isKept ? figuresOf(before) : figuresSeen(view ?? null)
}

function figuresOf({ head, lastBlockTime, lag, peers, upstreamMode }: NodeStatus): Figures {
  return {
    ...(head === undefined ? {} : { head }),
    ...(lastBlockTime === undefined ? {} : { lastBlockTime }),
    ...(lag === undefined ? {} : { lag }),
    ...(peers === undefined ? {} : { peers }),
    ...(upstreamMode === undefined ? {} : { upstreamMode }),
  }
}

function figuresSeen(view: HealthView | null): Figures {
  if (view === null) return {}
  return {
    ...(view.head === null ? {} : { head: view.head }),
    ...(view.lastBlockTime === null ? {} : { lastBlockTime: view.lastBlockTime }),
    ...(view.lag === null ? {} : { lag: view.lag }),
    peers: view.peers.length,
    ...(view.upstreamMode === null ? {} : { upstreamMode: view.upstreamMode }),
  }
}

/** The slowest head, the largest lag and the fewest peers among replicas that answer. */
export function totals(nodes: readonly NodeStatus[]): Figures {
  const all = (name: 'head' | 'lag' | 'peers'): number[] =>
    nodes.flatMap((node) => node[name] ?? [])
  const [heads, lags, peers] = [all('head'), all('lag'), all('peers')]
  return {
    ...(heads.length === 0 ? {} : { head: Math.min(...heads) }),
    ...(lags.length === 0 ? {} : { lag: Math.max(...lags) }),
    ...(peers.length === 0 ? {} : { peers: Math.min(...peers) }),
  }
}

/**
 * Whether a figure came from nothing or went back to it: the first block, the first peer, the last one. A lag of
 * 0 is something.
 */
export function hasBegunOrEnded(before: Figures, after: Figures): boolean {
  const there = ({ head, lag, peers = 0 }: Figures): string =>
    [head !== undefined, lag !== undefined, peers > 0].join()
  return there(before) !== there(after)
}

/** What to report of replicas that sign with another key than before, though their key directories are the same. */
export function changedSigningKeys(
  before: readonly NodeStatus[],
  after: readonly NodeStatus[],
): string[] {
  return after.flatMap(({ ordinal, identity, keysClaimUID }) => {
    const old = before.find((node) => node.ordinal === ordinal)
    if (identity === undefined || old?.identity === undefined) return []
    if (old.identity === identity || old.keysClaimUID !== keysClaimUID) return []
    return [`Replica ${ordinal} signs with ${identity}, and did with ${old.identity}.`]
  })
}

/** A replica that says another peer ID than the one that belongs to its key. */
export function changedPeerID(
  nodes: readonly NodeStatus[],
  views: ReadonlyMap<number, HealthView | null | undefined>,
): Statement<'PeerIDChanged'> | null {
  for (const { ordinal, peerID } of nodes) {
    const said = views.get(ordinal)?.peerID ?? null
    if (peerID === undefined || said === null || said === peerID) continue
    return {
      reason: 'PeerIDChanged',
      message: `Replica ${ordinal} says the peer ID ${said} where it was ${peerID}, with the same keyring key: see who replaced its keys or its image.`,
    }
  }
  return null
}
