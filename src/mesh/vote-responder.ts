/**
 * Responds to requests for heads and seals, from a node's store and the heads it holds. Digests of many heights
 * are much to read, and any peer may ask: so all responses together have a share of the thread's time.
 */
import type { Seal } from '../primitives/seal.ts'
import {
  decodeVoteRequest,
  encodeDigestsAnswer,
  encodeHeadsAnswer,
  encodeSealsAnswer,
  type GroupDigest,
  groupDigest,
  type SealPlace,
  type SealsAnswer,
  type VoteRequest,
  voteLimits,
} from '../primitives/vote-exchange.ts'
import { createShareOfTime } from '../share-of-time.ts'
import type { SealedPlace, Snapshot } from '../store/store.ts'
import { readRequest } from './read-request.ts'
import { digestsByGroup, groupsOf, type Heights, type StoredPlaces } from './vote-groups.ts'

type VoteView = Pick<Snapshot, 'sealPlaces' | 'sealsOf'>
type StoredVotes = StoredPlaces<VoteView>

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
    const request = readRequest(decodeVoteRequest, question)
    if (request === null) return null
    if (request.kind === 'heads')
      return encodeHeadsAnswer(parts.heads(request.identities).slice(0, voteLimits.maxHeads))
    if (request.kind === 'seals') return encodeSealsAnswer(await sealsPage(stored, request))
    return encodeDigestsAnswer(await groupDigests(stored, request, request.identities))
  }
}

/** A digest for each of these identities and each group of these heights in which it has seals. */
export function groupDigests(
  stored: StoredVotes,
  heights: Heights,
  identities: readonly string[],
): Promise<GroupDigest[]> {
  return digestsByGroup<SealedPlace, VoteView>(stored, {
    heights,
    identities,
    placesOf: (snapshot, from, to) => snapshot.sealPlaces(from, to),
    digestOf: groupDigest,
  })
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
