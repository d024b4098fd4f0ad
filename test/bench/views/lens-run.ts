/**
 * `node --liftoff-only test/bench/views/lens-run.ts` decodes blocks of 500 logs with `decode_log` as the lens process does, and prints
 * the microseconds of processor time that a log costs: writing it into the lens, decoding, and taking the answer out.
 */
import { readFileSync } from 'node:fs'
import { erc20Abi } from 'viem'
import { prepareProgram } from '../../../src/lens/program/program.ts'
import { transferTopic } from '../../support/chain/block-factory.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'

const logsPerBlock = 500
const warmUp = 100
const blocks = 400

const random = createSeededRandom('lens')
const documents = Array.from({ length: logsPerBlock }, () =>
  JSON.stringify({
    address: random.hex(20),
    topics: [transferTopic, ...[1, 2].map(() => `0x${'0'.repeat(24)}${random.hex(20).slice(2)}`)],
    data: `0x${'0'.repeat(40)}${random.hex(12).slice(2)}`,
    blockNumber: 1,
    transaction: { hash: random.hex(32), from: random.hex(20), to: random.hex(20) },
  }),
)
const wasm = readFileSync(new URL('../../../src/lenses/decode_log.wasm', import.meta.url))
const program = prepareProgram([{ wasm, args: JSON.stringify({ abi: erc20Abi }) }], null)

function runBlocks(count: number): number {
  let bytes = 0
  for (let block = 0; block < count; block++)
    program.run(documents, (document) => {
      bytes += Buffer.from(document).length
    })
  return bytes
}

runBlocks(warmUp)
const before = process.cpuUsage()
const bytes = runBlocks(blocks)
const { user, system } = process.cpuUsage(before)
const logs = blocks * logsPerBlock
process.stdout.write(
  `${JSON.stringify({ microseconds: (user + system) / logs, bytes: bytes / logs })}\n`,
)
