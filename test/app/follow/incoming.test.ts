/** How much of what Hosts send waits for votes before the Host that feeds is read no further. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RowFollower } from '../../../src/app/follow/follower.ts'
import { createPendingBlocks } from '../../../src/app/follow/pending-blocks.ts'
import { createSigner } from '../../../src/identity/signature.ts'
import { createMadeChain, type MadeBlock, madeSdl, madeView } from '../support/made-chain.ts'
import { madeExcerpt } from '../support/made-host.ts'
import { openTestFollower } from '../support/test-follower.ts'

const signer = createSigner({ type: 'Ed25519', privateKey: new Uint8Array(32).fill(3) })
const maxBlocks = 2_048

interface Feeding {
  readonly follower: RowFollower
  /** Hands blocks on until one is read no further, and returns how many that took; all where none is. */
  readUntilFull(blocks: readonly MadeBlock[]): Promise<{ blocks: number; isFull: boolean }>
  /** Resolves once the last of these is read further. */
  untilRead(): Promise<unknown>
  /** The Host signs a block. */
  sign(block: MadeBlock | undefined): Promise<void>
}

/** A View that a Host feeds, which signs nothing by itself. */
async function openFeeding(t: TestContext, maxPendingBytes?: number): Promise<Feeding> {
  const nothing = (): void => undefined
  const { follower } = await openTestFollower(t, {
    ...{ views: [madeView], hosts: [signer.identity] },
    ...(maxPendingBytes === undefined ? {} : { maxPendingBytes }),
  })
  const ended = new AbortController()
  t.after(() => ended.abort())
  const listener = follower.listener(
    {
      ...{ peer: 'the Host', signal: ended.signal },
      ...{ onWelcome: nothing, onProgress: nothing, onHead: nothing },
    },
    follower.opening({ peer: 'the Host', feeds: new Set([madeView]), floor: 0 }).views,
  )
  const welcomed = { view: madeView, name: 'Payment', sdl: madeSdl, state: 'live' }
  const welcome = { ...welcomed, tail: 0, head: null }
  await listener.onWelcome({ identity: signer.identity, genesis: null, views: [welcome] })
  let reading: Promise<unknown> = Promise.resolve()
  return {
    follower,
    readUntilFull: async (blocks) => {
      for (const [index, { rows, ...place }] of blocks.entries()) {
        let isRead = false
        reading = listener.onBlock({ ...place, view: madeView, rows }).then(() => {
          isRead = true
        })
        for (let turn = 0; turn < 20 && !isRead; turn++) await new Promise(setImmediate)
        if (!isRead) return { blocks: index + 1, isFull: true }
      }
      return { blocks: blocks.length, isFull: false }
    },
    untilRead: () => reading,
    sign: async (block) => {
      assert.ok(block !== undefined)
      await listener.onStatement(madeExcerpt(block, signer))
    },
  }
}

test('2,047 blocks may wait and are read past, one more is not until one of them is stored', async (t) => {
  const chain = createMadeChain()
  chain.grow(maxBlocks + 1, 0)
  const blocks = chain.blocks()
  const { follower, readUntilFull, untilRead, sign } = await openFeeding(t)
  assert.deepEqual(await readUntilFull(blocks), { blocks: maxBlocks, isFull: true })
  assert.equal(follower.progress(madeView).pending, maxBlocks)
  await sign(blocks[0])
  await untilRead()
  assert.equal(follower.progress(madeView).pending, maxBlocks - 1)
  assert.deepEqual(await readUntilFull(blocks.slice(maxBlocks)), { blocks: 1, isFull: true })
  for (const block of blocks) await sign(block)
  await untilRead()
})

test('blocks up to the bytes that may wait are read past, with one byte less the last is not', async (t) => {
  const chain = createMadeChain()
  chain.grow(3, 50)
  const blocks = chain.blocks()
  const two = createPendingBlocks(null)
  for (const block of blocks.slice(0, 2)) two.add({ ...block, sinceMs: 0 })
  const roomy = await openFeeding(t, two.bytes())
  assert.deepEqual(await roomy.readUntilFull(blocks.slice(0, 2)), { blocks: 2, isFull: false })
  assert.deepEqual(await roomy.readUntilFull(blocks.slice(2)), { blocks: 1, isFull: true })
  const tight = await openFeeding(t, two.bytes() - 1)
  assert.deepEqual(await tight.readUntilFull(blocks), { blocks: 2, isFull: true })
  await tight.sign(blocks[0])
  await tight.untilRead()
  assert.equal(tight.follower.progress(madeView).stored, 0)
})
