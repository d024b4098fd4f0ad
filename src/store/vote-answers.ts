/** What a node answers to questions about heads and seals, from its store and the heads it holds. */
import { ServiceError } from '../errors.ts'
import {
  decodeVoteRequest,
  encodeDigestsAnswer,
  encodeHeadsAnswer,
  encodeSealsAnswer,
  type GroupDigest,
  groupDigest,
  groupOf,
  type VoteRequest,
  voteLimits,
} from '../primitives/vote-exchange.ts'
import type { SealedPlace, Snapshot } from './store.ts'

/** What of a store is told. */
type ToldSnapshot = Pick<Snapshot, 'sealPlaces' | 'sealsOf'>

export interface VoteAnswerParts {
  readonly reader: { read<T>(look: (snapshot: ToldSnapshot) => T): T }
  /** The messages of the newest heads of these signers, or of all where none is named. */
  readonly heads: (identities: readonly string[]) => readonly Uint8Array[]
}

/** Answers one question of `votes/1`; null for one that cannot be read. */
export function createVoteAnswers(
  parts: VoteAnswerParts,
): (question: Uint8Array) => Uint8Array | null {
  return (question) => {
    const request = readRequest(question)
    if (request === null) return null
    if (request.kind === 'heads') {
      return encodeHeadsAnswer(parts.heads(request.identities).slice(0, voteLimits.maxHeads))
    }
    return parts.reader.read((snapshot) =>
      request.kind === 'digests'
        ? encodeDigestsAnswer(
            groupDigests(snapshot, request.from, request.to, new Set(request.identities)),
          )
        : sealsAnswer(snapshot, request),
    )
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

/** A digest for each of these identities and each group in which it has seals. */
export function groupDigests(
  snapshot: Pick<Snapshot, 'sealPlaces'>,
  from: number,
  to: number,
  identities: ReadonlySet<string>,
): GroupDigest[] {
  const groups = new Map<string, { identity: string; group: number; places: SealedPlace[] }>()
  for (const place of snapshot.sealPlaces(from, to)) {
    const { identity, height } = place
    if (!identities.has(identity)) continue
    const group = groupOf(height)
    const key = `${identity} ${group}`
    const known = groups.get(key) ?? { identity, group, places: [] }
    known.places.push(place)
    groups.set(key, known)
  }
  return [...groups.values()].map(({ identity, group, places }) => ({
    identity,
    group,
    digest: groupDigest(places),
  }))
}

function sealsAnswer(
  snapshot: ToldSnapshot,
  { identity, from, to, after }: Extract<VoteRequest, { kind: 'seals' }>,
): Uint8Array {
  const isAfter = ({ height, blockHash }: SealedPlace): boolean =>
    after === null ||
    height > after.height ||
    (height === after.height && blockHash > after.blockHash)
  const start = after === null ? from : Math.max(from, after.height)
  const places: SealedPlace[] = []
  for (const place of snapshot.sealPlaces(start, to)) {
    if (place.identity !== identity || !isAfter(place)) continue
    places.push(place)
    if (places.length > voteLimits.maxSeals) break
  }
  const page = places.slice(0, voteLimits.maxSeals)
  const seals = page.flatMap(({ blockHash }) =>
    snapshot.sealsOf(blockHash).filter((seal) => seal.signatureIdentity === identity),
  )
  return encodeSealsAnswer({ seals, more: places.length > page.length })
}
