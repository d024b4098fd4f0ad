/** A Generator that starts again and again, against a peer that shows it all its old heads, one after the other. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openOwnHeadSearch } from '../../../src/generator/head/own-head-search.ts'
import { createHeadSigner } from '../../../src/generator/head/signer.ts'
import { defaultHeadTiming } from '../../../src/generator/head/timing.ts'
import { decodeHead, encodeHead, type Head } from '../../../src/primitives/head.ts'
import { encodeHeadsAnswer } from '../../../src/primitives/vote-exchange.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { captureLog } from '../../support/captured-log.ts'
import { opaqueBlock, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { signHead, testGenesis } from '../../support/chain/signed-heads.ts'
import { connect, openRoom, type TestRoom, testNetwork } from '../../support/p2p-room.ts'
import { openTestStore } from '../../support/test-store.ts'
import { createCollection } from '../support/collection.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'

const restarts = 10
const runMs = 60_000
const key = testSigner('restarted')

interface Run {
  readonly room: TestRoom
  readonly store: StoreWriter
  readonly clock: FakeClock
  /** Height of the node at the start. */
  readonly height: number
  /** Each question that the peer answers. */
  readonly asked: ReturnType<typeof createCollection<number>>
}

/** Runs for a minute, in which the peer is asked `questions` times; answers the heads it signed. */
async function runOnce(run: Run, questions: number): Promise<Head[]> {
  const { room, store, clock, height, asked } = run
  const heads = createCollection<Head>()
  const { log } = captureLog()
  const signer = createHeadSigner(
    { network: testNetwork, timing: defaultHeadTiming },
    {
      signer: key,
      store,
      clock,
      log,
      askNode: async () => null,
      onDiffers: () => undefined,
      onHead({ bytes, sequence }) {
        heads.add(decodeHead(bytes))
        search.addOwn(sequence)
      },
      onFailure: (error) => assert.fail(String(error)),
    },
  )
  const search = openOwnHeadSearch(
    { network: testNetwork, identity: key.identity, askPeersMs: 1 },
    { p2p: room.p2p, log, onFound: signer.found },
  )
  signer.setGenesis(testGenesis)
  signer.setNodeHeight(height)
  const before = asked.items.length
  for (let question = 1; question <= questions; question++) {
    await asked.first(() => asked.items.length >= before + question)
    clock.advance(runMs / questions)
    if (question % 10 !== 0) continue
    const number = height + question / 10
    const block = { ...opaqueBlock(number), seals: [opaqueSeal(number, 'main', key.identity)] }
    await store.putSealedBlock(block)
    await signer.sealed({ number, hash: block.header.hash }, clock.nowMs())
  }
  search.close()
  await signer.close()
  return [...heads.items]
}

async function restartAgainAndAgain(t: TestContext, keepsStore: boolean): Promise<void> {
  const old = Array.from({ length: 30 }, (_, index) =>
    signHead(key, { network: testNetwork, number: index + 1, sequence: index + 1 }),
  )
  let turn = 0
  const asked = createCollection<number>()
  const peer = await openRoom(t, {
    limits: { requestsPerSecond: 10_000 },
    answers: {
      votes() {
        asked.add(turn)
        const shown = old[turn++ % old.length]
        return encodeHeadsAnswer(shown === undefined ? [] : [encodeHead(shown)])
      },
    },
  })
  const room = await openRoom(t)
  await connect(room, peer)
  let store = await openTestStore(t)
  let height = 30
  for (let restart = 0; restart < restarts; restart++) {
    if (!keepsStore) store = await openTestStore(t)
    const clock = createFakeClock(keepsStore ? undefined : 0)
    const heads = await runOnce({ room, store, clock, height, asked }, old.length)
    assert.ok(heads.length > 0)
    turn = 0
    old.push(...heads)
    height += 30
  }
}

test(`restarted ${restarts} times in ten minutes with its store, it continues`, (t) =>
  restartAgainAndAgain(t, true))

test(`restarted ${restarts} times in ten minutes without store and right clock, it continues`, (t) =>
  restartAgainAndAgain(t, false))
