/** What is asked of one peer about votes, and what becomes of its answers. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { SealsTaken } from '../../../src/host/apply/outcome.ts'
import type { HeadOutcome } from '../../../src/host/apply/signer-heads.ts'
import { compareVotes, type VoteComparisonParts } from '../../../src/host/sync/vote-comparison.ts'
import type { PeerVerdict } from '../../../src/p2p/peers/verdict.ts'
import {
  decodeVoteRequest,
  encodeDigestsAnswer,
  encodeHeadsAnswer,
  type GroupDigest,
  groupDigest,
  type SealPlace,
  type VoteRequest,
} from '../../../src/primitives/vote-exchange.ts'
import { createShareOfTime } from '../../../src/share-of-time.ts'
import { namedHash, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

const signers = Array.from(
  { length: 65 },
  (_, index) => `02${index.toString(16).padStart(64, '0')}`,
)
const [alice = '', bob = ''] = signers

/** What the peer has, and what the writer makes of it. */
interface Scene extends Partial<Pick<VoteComparisonParts, 'isAnyone' | 'window'>> {
  readonly signers?: readonly string[]
  readonly heads?: readonly string[]
  readonly digests?: readonly GroupDigest[]
  readonly headOutcome?: (head: string) => HeadOutcome
  /** By the number of the page, from 0. */
  readonly taken?: (page: number) => SealsTaken | null
}

interface Compared {
  readonly asked: readonly VoteRequest[]
  /** Heads that were handed to the writer. */
  readonly heads: readonly string[]
  readonly verdicts: readonly PeerVerdict[]
  readonly blamed: readonly string[]
  /** New seals, as they were counted. */
  readonly seals: readonly number[]
}

async function compare(
  t: TestContext,
  { heads = [], digests = [], headOutcome, taken, ...scene }: Scene,
): Promise<Compared> {
  const store = await openTestStore(t, null)
  await store.putSeals(70, [opaqueSeal(70, 'main', bob)])
  const asked: VoteRequest[] = []
  const received: string[] = []
  const verdicts: PeerVerdict[] = []
  const blamed: string[] = []
  const seals: number[] = []
  let pages = 0
  const parts: VoteComparisonParts = {
    metrics: { voteExchange: (count) => void seals.push(count) },
    p2p: {
      request: async (peer, protocol, question) => {
        assert.deepEqual([peer, protocol], ['the peer', 'votes'])
        const request = decodeVoteRequest(question)
        asked.push(request)
        if (request.kind === 'seals') return new Uint8Array()
        if (request.kind === 'digests') return encodeDigestsAnswer(digests)
        return encodeHeadsAnswer(heads.map((head) => Buffer.from(head)))
      },
      applyVerdict: (_peer, verdict) => void verdicts.push(verdict),
      penalise: (peer, detail) => void blamed.push(`${peer}: ${detail}`),
    },
    reader: store.reader,
    writer: {
      receiveHead: async (bytes) => {
        const head = Buffer.from(bytes).toString()
        received.push(head)
        return headOutcome?.(head) ?? assert.fail(head)
      },
      receiveSeals: async () => {
        const page = taken ?? assert.fail('seals are not asked for')
        pages += 1
        return page(pages - 1)
      },
    },
    signers: () => scene.signers ?? [alice, bob],
    isAnyone: scene.isAnyone ?? false,
    window: scene.window ?? (() => ({ from: 10, to: 130 })),
  }
  const { signal } = new AbortController()
  const comparison = { parts, peer: 'the peer', time: createShareOfTime(), signal }
  await compareVotes(comparison, { first: 0, count: 1 })
  return { asked, heads: received, verdicts, blamed, seals }
}

test('signers are asked for by 64, each time their heads and then every page of heights', async (t) => {
  const window = () => ({ from: 1, to: 1_500 })
  const { asked } = await compare(t, { signers, window })
  const askedOf = (identities: readonly string[]): VoteRequest[] => [
    { kind: 'heads', identities },
    { kind: 'digests', from: 512, to: 1_500, identities },
    { kind: 'digests', from: 1, to: 511, identities },
  ]
  assert.deepEqual(asked, [...askedOf(signers.slice(0, 64)), ...askedOf(signers.slice(64))])
})

test('where anybody is accepted, heads of all are asked for once, and seals of those heard', async (t) => {
  const headOutcome = (identity: string): HeadOutcome => ({ kind: 'newer', identity, height: 7 })
  const names = ['first', 'second', 'third']
  const { asked, heads } = await compare(t, { isAnyone: true, heads: names, headOutcome })
  assert.deepEqual(asked, [
    { kind: 'heads', identities: [] },
    { kind: 'digests', from: 10, to: 130, identities: [alice, bob] },
  ])
  assert.deepEqual(heads, names)
  const unheard = await compare(t, { isAnyone: true, signers: [] })
  assert.deepEqual(unheard.asked, [{ kind: 'heads', identities: [] }])
})

test('while there are no heights to compare, heads are still fetched', async (t) => {
  const { asked } = await compare(t, { window: () => null })
  assert.deepEqual(asked, [{ kind: 'heads', identities: [alice, bob] }])
})

test('a peer may answer with one head for each signer that it was asked for', async (t) => {
  const headOutcome = (identity: string): HeadOutcome => ({ kind: 'newer', identity, height: 7 })
  const { heads, verdicts } = await compare(t, { heads: ['first', 'second', 'third'], headOutcome })
  assert.deepEqual(heads, ['first', 'second'])
  assert.deepEqual(verdicts, [
    { action: 'accept', height: 7 },
    { action: 'accept', height: 7 },
  ])
})

test('a known head changes nothing about a peer, and after a bad one no other is taken', async (t) => {
  const breach = { kind: 'breach', detail: 'so it is', height: null } as const
  const { heads, verdicts } = await compare(t, {
    isAnyone: true,
    heads: ['known', 'bad', 'unread'],
    headOutcome: (head) =>
      head === 'known'
        ? { ...breach, action: 'ignore', rule: 'something-new' }
        : { ...breach, action: 'reject', rule: 'valid-signature' },
  })
  assert.deepEqual(heads, ['known', 'bad'])
  assert.deepEqual(verdicts, [{ action: 'reject', reason: 'valid-signature: so it is' }])
})

const digest = '00'.repeat(16)
/** Asked for of a signer in the group from height 64 to 127. */
const seals = (identity: string, after: SealPlace | null): VoteRequest => {
  return { kind: 'seals', identity, from: 64, to: 127, after }
}
const sealsAsked = ({ asked }: Compared): VoteRequest[] =>
  asked.filter(({ kind }) => kind === 'seals')

test('seals are fetched of groups that differ, page after page, until one is the last', async (t) => {
  const known = { identity: bob, group: 1, digest: groupDigest([opaqueSeal(70, 'main', bob)]) }
  const last = { height: 80, blockHash: namedHash('a block') }
  const compared = await compare(t, {
    digests: [known, { identity: alice, group: 1, digest }],
    taken: (page) => ({ seals: 5 - page, isMore: page === 0, last }),
  })
  assert.deepEqual(sealsAsked(compared), [seals(alice, null), seals(alice, last)])
  assert.deepEqual(compared.seals, [5, 4])
  assert.deepEqual(compared.blamed, [])
})

test('a peer whose seals never end is asked for four pages of a group', async (t) => {
  const last = { height: 80, blockHash: namedHash('a block') }
  const digests = [{ identity: alice, group: 1, digest }]
  const endless = await compare(t, { digests, taken: () => ({ seals: 0, isMore: true, last }) })
  const again = seals(alice, last)
  assert.deepEqual(sealsAsked(endless), [seals(alice, null), again, again, again])

  const empty = { seals: 0, isMore: true, last: null }
  const nowhere = await compare(t, { digests, taken: () => empty })
  assert.deepEqual(sealsAsked(nowhere), [seals(alice, null)], 'a page without seals is the last')
})

test('a peer whose seals do not fit is blamed, and the next group is asked for', async (t) => {
  const digests = [alice, bob].map((identity) => ({ identity, group: 1, digest }))
  const compared = await compare(t, { digests, taken: () => null })
  assert.deepEqual(sealsAsked(compared), [seals(alice, null), seals(bob, null)])
  assert.deepEqual(compared.blamed, Array(2).fill('the peer: seals that do not fit'))
  assert.deepEqual(compared.seals, [])
})
