/**
 * Responds to requests for heads and seals, from a node's store and the heads it holds. Digests of many heights
 * are much to read, and any peer may ask: so all responses together have a share of the thread's time.
 */
import { ServiceError } from '../errors.ts'
import type { Seal } from '../primitives/seal.ts'
import {
  decodeVoteRequest,
  encodeDigestsAnswer,
  encodeHeadsAnswer,
  encodeSealsAnswer,
  type GroupDigest,
  groupDigest,
  groupHeights,
  groupOf,
  type SealPlace,
  type SealsAnswer,
  type VoteRequest,
  voteLimits,
} from '../primitives/vote-exchange.ts'
import type { SealedPlace, Snapshot } from '../store/store.ts'
import { createShareOfTime, type ShareOfTime } from './share-of-time.ts'

/** What is read of a store, and how much time reading it may take. */
interface StoredVotes {
  readonly reader: { read<T>(use: (snapshot: Pick<Snapshot, 'sealPlaces' | 'sealsOf'>) => T): T }
  readonly time: ShareOfTime
}

/** Heights, both ends included. */
export interface Heights {
  readonly from: number
  readonly to: number
}

interface VoteResponderParts extends Pick<StoredVotes, 'reader'> {
  /** The messages of the newest heads of these signers, or of all where none is named. */
  readonly heads: (identities: readonly string[]) => readonly Uint8Array[]
}

/** Responds to one request of `votes/1`; null for one that cannot be read. */
export function createVoteResponder(
  parts: VoteResponderParts,
): (question: Uint8Array) => Promise<Uint8Array | null> {
  const stored: StoredVotes = { reader: parts.reader, time: createShareOfTime() }
  return async (question) => {
    const request = readRequest(question)
    if (request === null) return null
    if (request.kind === 'heads')
      return encodeHeadsAnswer(parts.heads(request.identities).slice(0, voteLimits.maxHeads))
    if (request.kind === 'seals') return encodeSealsAnswer(await sealsPage(stored, request))
    return encodeDigestsAnswer(await groupDigests(stored, request, request.identities))
  }
}

function readRequest(question: Uint8Array): VoteRequest | null {
  try {
    return decodeVoteRequest(question)
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

/** A digest for each of these identities and each group of these heights in which it has seals. */
export async function groupDigests(
  { reader, time }: StoredVotes,
  heights: Heights,
  identities: readonly string[],
): Promise<GroupDigest[]> {
  const wanted = new Set(identities)
  const digests: GroupDigest[] = []
  for (const { from, to } of groupsOf(heights))
    digests.push(
      ...(await time.run(() =>
        reader.read((snapshot) => digestsOf(snapshot.sealPlaces(from, to), wanted)),
      )),
    )
  return digests
}

/** The digests of one group. */
function digestsOf(places: Iterable<SealedPlace>, identities: ReadonlySet<string>): GroupDigest[] {
  const bySigner = new Map<string, SealedPlace[]>()
  for (const place of places) {
    if (!identities.has(place.identity)) continue
    const known = bySigner.get(place.identity) ?? []
    bySigner.set(place.identity, known)
    known.push(place)
  }
  return [...bySigner].map(([identity, own]) => ({
    identity,
    group: groupOf(own[0]?.height ?? 0),
    digest: groupDigest(own),
  }))
}

type SealsRequest = Extract<VoteRequest, { kind: 'seals' }>

/** The first seals of a signer after a place, and whether there are more. */
async function sealsPage(
  { reader, time }: StoredVotes,
  { identity, from, to, after }: SealsRequest,
): Promise<SealsAnswer> {
  const isWanted = (place: SealedPlace): boolean =>
    place.identity === identity && (after === null || isBeyond(place, after))
  const seals: Seal[] = []
  for (const heights of groupsOf({ from: Math.max(from, after?.height ?? 0), to })) {
    const found = await time.run(() =>
      reader.read((snapshot) =>
        [...snapshot.sealPlaces(heights.from, heights.to)]
          .filter(isWanted)
          .flatMap(({ blockHash }) => snapshot.sealsOf(blockHash))
          .filter(({ signatureIdentity }) => signatureIdentity === identity),
      ),
    )
    seals.push(...found)
    if (seals.length > voteLimits.maxSeals) break
  }
  return { seals: seals.slice(0, voteLimits.maxSeals), more: seals.length > voteLimits.maxSeals }
}

function isBeyond({ height, blockHash }: SealedPlace, after: SealPlace): boolean {
  return height > after.height || (height === after.height && blockHash > after.blockHash)
}

/** A range cut at the bounds of groups, so that a piece of work is small. */
function groupsOf({ from, to }: Heights): Heights[] {
  const first = groupOf(from)
  return Array.from({ length: groupOf(to) - first + 1 }, (_, index) => {
    const start = (first + index) * groupHeights
    return { from: Math.max(from, start), to: Math.min(to, start + groupHeights - 1) }
  })
}
