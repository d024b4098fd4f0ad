/** A signer of heads on a real store, with a clock that the test moves and a node that the test answers for. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createHeadSigner, type HeadSigner } from '../../../src/generator/head/signer.ts'
import { defaultHeadTiming } from '../../../src/generator/head/timing.ts'
import { decodeHead, type Head } from '../../../src/primitives/head.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import { namedHash, opaqueBlock, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'
import { testGenesis } from '../../support/chain/signed-heads.ts'
import { openTestStore } from '../../support/test-store.ts'
import { type Collection, createCollection } from './collection.ts'
import { createFakeClock, type FakeClock } from './fake-clock.ts'

interface Setup {
  readonly store: StoreWriter
  readonly clock: FakeClock
  readonly signer: HeadSigner
  readonly heads: Collection<Head>
  readonly log: CapturedLog
  /** The first failure. */
  readonly failed: Promise<unknown>
  /** Heights that the node was asked for and has yet to answer. */
  readonly asked: Collection<{ readonly height: number; answer(hash: string | null): void }>
  /** How often it had another block. */
  differences(): number
  /** Stores and seals a block, which the node answered just now. */
  seal(height: number, branch?: string): Promise<void>
}

/** The key that signs. */
export const headKey: ReturnType<typeof testSigner> = testSigner('heads')

interface SignerOptions extends Partial<Pick<Setup, 'store' | 'clock'>> {
  /** Height of the node when it starts. Default 100. */
  readonly startHeight?: number
  readonly genesis?: string | null
}

/** A signer that knows block 0. */
export async function openSigner(t: TestContext, options: SignerOptions = {}): Promise<Setup> {
  const { store = await openTestStore(t), clock = createFakeClock(), startHeight = 100 } = options
  const { genesis = testGenesis } = options
  const log = captureLog()
  const failure = Promise.withResolvers<unknown>()
  const heads = createCollection<Head>()
  const asked: Setup['asked'] = createCollection()
  let differences = 0
  const signer = createHeadSigner(
    { network: testNetwork, timing: defaultHeadTiming },
    {
      signer: headKey,
      store,
      clock,
      log: log.log,
      askNode: (number) =>
        new Promise((resolve) => {
          const answer = (hash: string | null): void =>
            resolve(hash === null ? null : { number, hash, parentHash: hash })
          asked.add({ height: number, answer })
        }),
      onDiffers: () => differences++,
      onHead({ bytes, sequence }) {
        const record = store.reader.read((snapshot) => snapshot.record('head'))
        assert.deepEqual(record, Buffer.from(bytes), 'it is stored before it is sent')
        const head = decodeHead(bytes)
        assert.equal(head.sequence, sequence)
        heads.add(head)
      },
      onFailure: failure.resolve,
    },
  )
  t.after(() => signer.close())
  if (genesis !== null) signer.setGenesis(genesis)
  signer.setNodeHeight(startHeight)
  return {
    store,
    clock,
    signer,
    heads,
    log,
    failed: failure.promise,
    asked,
    differences: () => differences,
    async seal(height, branch = 'main') {
      const seals = [opaqueSeal(height, branch, headKey.identity)]
      await store.putSealedBlock({ ...opaqueBlock(height, 200, branch), seals })
      const place = { number: height, hash: namedHash(`${branch}:${height}`) }
      await signer.sealed(place, clock.nowMs())
    },
  }
}
