/**
 * Responds to requests for what Hosts signed of the rows of Views, from a Host's store: about the blocks that are stored,
 * so that two Hosts with the same blocks and statements have the same digests whatever gave way before.
 */
import {
  type DigestsRequest,
  encodeDigestsAnswer,
  voteLimits,
} from '../primitives/vote-exchange.ts'
import {
  decodeRowVoteRequest,
  encodeStatementsAnswer,
  maxStatements,
  type StatementsAnswer,
  type StatementsRequest,
  statementsDigest,
} from '../row-votes/row-vote-exchange.ts'
import { createShareOfTime } from '../share-of-time.ts'
import type { Snapshot, StatementPlace } from '../store/store.ts'
import { readRequest } from './read-request.ts'
import { digestsByGroup, groupsOf, type StoredPlaces } from './vote-groups.ts'

type StatementView = Pick<Snapshot, 'rowBlocks' | 'rowStatementPlaces' | 'rowStatementMessage'>
type SignedPlace = StatementPlace & { readonly height: number; readonly identity: string }
type StoredStatements = StoredPlaces<StatementView>

/** What an answer takes beside its statements, and each of these beside its bytes. */
const envelopeBytes = 32
const itemBytes = 5

/** Responds to one request of `row-votes/1`; null for one that cannot be read. */
export function createRowVoteResponder({
  reader,
}: Pick<StoredStatements, 'reader'>): (question: Uint8Array) => Promise<Uint8Array | null> {
  const stored: StoredStatements = { reader, time: createShareOfTime() }
  return async (question) => {
    const request = readRequest(decodeRowVoteRequest, question)
    if (request === null) return null
    if (request.kind === 'statements')
      return encodeStatementsAnswer(await statementsPage(stored, request))
    return encodeDigestsAnswer(await statementDigests(stored, request))
  }
}

/** A digest for each of these identities and each group of these heights in which it signed something of stored blocks. */
export function statementDigests(
  stored: StoredPlaces<StatementView>,
  { from, to, identities }: Omit<DigestsRequest, 'kind'>,
): ReturnType<typeof digestsByGroup> {
  return digestsByGroup<SignedPlace, StatementView>(stored, {
    heights: { from, to },
    identities,
    placesOf: (snapshot, first, last) =>
      Array.from(storedPlaces(snapshot, first, last), (place) => ({
        ...place,
        height: place.blockNumber,
        identity: place.signatureIdentity,
      })),
    digestOf: statementsDigest,
  })
}

/** The first statements of a Host, as many as one answer may hold, and where it was cut. */
async function statementsPage(
  { reader, time }: StoredStatements,
  { identity, from, to }: StatementsRequest,
): Promise<StatementsAnswer> {
  const statements: Uint8Array[] = []
  let leftBytes = voteLimits.maxAnswerBytes - envelopeBytes
  for (const heights of groupsOf({ from, to })) {
    const places = await time.run(() =>
      reader.read((snapshot) =>
        [...storedPlaces(snapshot, heights.from, heights.to)].filter(
          ({ signatureIdentity }) => signatureIdentity === identity,
        ),
      ),
    )
    for (const [height, own] of Map.groupBy(places, ({ blockNumber }) => blockNumber)) {
      const messages = await time.run(() => readMessages(reader, own))
      const bytes = messages.reduce((sum, { length }) => sum + length + itemBytes, 0)
      if (bytes > leftBytes || statements.length + messages.length > maxStatements)
        return { statements, next: height }
      statements.push(...messages)
      leftBytes -= bytes
    }
  }
  return { statements, next: null }
}

function readMessages(
  reader: StoredStatements['reader'],
  places: readonly StatementPlace[],
): Uint8Array[] {
  return reader.read((snapshot) =>
    places.flatMap((place) => snapshot.rowStatementMessage(place) ?? []),
  )
}

/** Statements about the blocks that are stored. */
function* storedPlaces(
  snapshot: StatementView,
  from: number,
  to: number,
): Generator<StatementPlace> {
  for (const place of snapshot.rowStatementPlaces(from, to))
    if (snapshot.rowBlocks.header(place.blockNumber)?.hash === place.blockHash) yield place
}
