/**
 * A program that seals blocks and signs their heads as fast as its disk allows, for a test that kills it:
 * `<path> <clock>` goes on in the store there, at that time in milliseconds since 1970. It says the message
 * of each head that it would send, in hex.
 */
import { writeSync } from 'node:fs'
import process from 'node:process'
import { pino } from 'pino'
import { systemClock } from '../../../src/generator/head/clock.ts'
import { createHeadSigner } from '../../../src/generator/head/signer.ts'
import { defaultHeadTiming } from '../../../src/generator/head/timing.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { opaqueBlock, opaqueNetwork, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { testGenesis } from '../../support/chain/signed-heads.ts'

const [, , path = '', unixMs = '0'] = process.argv
const log = pino({ enabled: false })
const signer = testSigner('killed')
const store = await openWriter({ path, network: opaqueNetwork, retainBlocks: 100 }, { log })
const heads = createHeadSigner(
  { network: opaqueNetwork, timing: { ...defaultHeadTiming, apartMs: 0 } },
  {
    signer,
    store,
    log,
    clock: { ...systemClock, unixMs: () => Number(unixMs) },
    askNode: () => new Promise(() => undefined),
    onDiffers: () => undefined,
    onHead: ({ bytes }) => writeSync(1, `head ${Buffer.from(bytes).toString('hex')}\n`),
    onFailure: (error) => {
      throw error
    },
  },
)
heads.setGenesis(testGenesis)
const head = store.reader.read((snapshot) => snapshot.range()?.head ?? 0)
for (let height = head + 1; ; height++) {
  const block = opaqueBlock(height)
  await store.putSealedBlock({ ...block, seals: [opaqueSeal(height, 'main', signer.identity)] })
  void heads.sealed({ number: height, hash: block.header.hash }, systemClock.nowMs())
}
