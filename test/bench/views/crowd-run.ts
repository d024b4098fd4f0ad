/**
 * `node test/bench/views/crowd-run.ts` lets many Views that no block has anything for see new blocks, in turn with a Host without
 * Views, since the difference is small beside what a block takes at one time and at another. Prints by how much more
 * milliseconds of processor time a block takes the Host with Views, and its lens process.
 */
import type { SealedBlockToStore } from '../../../src/store/store.ts'
import { pause } from '../../support/programs.ts'
import {
  fullBlocks,
  isLive,
  lensProcessorMs,
  openViewRoom,
  ownProcessorMs,
  unmatchedView,
  type ViewRoom,
} from './view-room.ts'

const crowd = Number(process.argv[2])
/** Blocks come in time for all Views. */
const paceMs = 50
/** Blocks whose index is merged together. */
const span = 64

const blocks = [...fullBlocks(5 * span)]
const [plain, closePlain] = await openViewRoom()
const [viewed, closeViewed] = await openViewRoom()
await inTurn(blocks.slice(0, span))
const views = Array.from({ length: crowd }, (_, number) => unmatchedView(number))
for (const view of views) viewed.engine.serve(view)
for (const view of views) await viewed.until(view, isLive)
await inTurn(blocks.slice(span, 3 * span))
const used = await inTurn(blocks.slice(3 * span))
for (const view of views) await viewed.until(view, isLive)
await Promise.all([closePlain(), closeViewed()])
process.stdout.write(`${JSON.stringify(used)}\n`)

async function inTurn(
  some: readonly SealedBlockToStore[],
): Promise<{ readonly ownMs: number; readonly lensMs: number }> {
  const startLensMs = lensProcessorMs()
  let ownMs = 0
  for (const block of some) ownMs += (await paced(viewed, block)) - (await paced(plain, block))
  return { ownMs: ownMs / some.length, lensMs: (lensProcessorMs() - startLensMs) / some.length }
}

/** Processor time of this process until the next block comes. */
async function paced(room: ViewRoom, block: SealedBlockToStore): Promise<number> {
  const startMs = ownProcessorMs()
  await room.put([block])
  await pause(paceMs)
  return ownProcessorMs() - startMs
}
