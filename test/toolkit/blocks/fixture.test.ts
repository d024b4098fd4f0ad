import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import process from 'node:process'
import { describe, it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import { readBlocks } from '../../../src/toolkit/blocks/block-form.ts'
import { readFixture, sampleBlocks } from '../../../src/toolkit/blocks/fixture.ts'
import { openTrialStore } from '../../../src/toolkit/blocks/trial-store.ts'
import { testDirectory } from '../../support/test-store.ts'
import { found, trial } from '../trial/support/trial-room.ts'

const address = `0x${'ab'.repeat(20)}`
const topic = `0x${'01'.repeat(32)}`

/** A folder in which temporary folders are made as long as the test runs. */
function temporaryFolder(t: TestContext): string {
  const folder = testDirectory(t)
  const { TMPDIR: before = '' } = process.env
  process.env['TMPDIR'] = folder
  t.after(() => {
    process.env['TMPDIR'] = before
  })
  return folder
}

function fileOf(t: TestContext, content: unknown): string {
  const path = join(testDirectory(t), 'blocks.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

describe('a fixture', () => {
  it('needs no more of a log than what the View reads', async (t) => {
    const path = fileOf(t, {
      network: 'Arbitrum__One',
      blocks: [{ logs: [{ address, topics: [topic], data: '0x01' }] }, { logs: [{ address }] }],
    })
    const { network, blocks } = await readFixture(path)
    assert.equal(network, 'Arbitrum__One')
    const report = await trial({
      blocks,
      network: 'Arbitrum__One',
      query: 'Log { address topics data logIndex transactionHash block { number timestamp } }',
      sdl: 'type L { address: String topics: [String] data: String logIndex: Int block: JSON transactionHash: String }',
    })
    assert.deepEqual(found(report), [])
    assert.deepEqual(
      report.rows.map(({ transactionHash, ...row }) => ({
        ...row,
        hash: String(transactionHash).length,
      })),
      [
        {
          _blockNumber: 1,
          _source: 0,
          address,
          topics: [topic],
          data: '0x01',
          logIndex: 0,
          block: { number: 1, timestamp: '0x6553f100' },
          hash: 66,
        },
        {
          _blockNumber: 2,
          _source: 0,
          address,
          topics: [],
          data: '0x',
          logIndex: 0,
          block: { number: 2, timestamp: '0x6553f10c' },
          hash: 66,
        },
      ],
    )
  })

  it('is refused with the place and what is accepted there', async () => {
    const refused = (block: unknown, message: RegExp): void => {
      assert.throws(() => readBlocks([block], 'blocks'), {
        code: 'TOOLKIT_FIXTURE_INVALID',
        message,
      })
    }
    refused(1, /^blocks\[0\] is 1$/)
    refused(
      { nmber: 1 },
      /^blocks\[0\] has the field nmber, which a Block does not have; did you mean number\?$/,
    )
    refused({ number: -1 }, /^blocks\[0\]\.number is -1$/)
    refused(
      { logs: [{ adress: address }] },
      /^blocks\[0\]\.logs\[0\] has the field adress,.* did you mean address\?$/,
    )
    refused({ transactions: [{ status: 1 }] }, /^blocks\[0\]\.transactions\[0\]\.status is 1$/)
    refused(
      { transactions: [{ blockNumber: 7 }] },
      /^blocks\[0\]\.transactions\[0\]\.blockNumber is 7$/,
    )
    refused({ transactions: {} }, /^blocks\[0\]\.transactions is \{\}$/)
    const store = openTrialStore({
      network: 'Ethereum__Mainnet',
      blocks: readBlocks([{ logs: [{ address: '0x1' }] }], 'blocks'),
    })
    await assert.rejects(store, {
      code: 'TOOLKIT_FIXTURE_INVALID',
      message: /^blocks\[0\]: .*logs\.address/,
    })
  })

  it('is refused as a file that is missing, too many blocks, or no blocks at all', async (t) => {
    const refused = async (content: unknown, message: RegExp): Promise<void> =>
      assert.rejects(readFixture(fileOf(t, content)), { code: 'TOOLKIT_FIXTURE_INVALID', message })
    await refused('{', /is not JSON$/)
    await refused([], /not an object with a list of blocks/)
    await refused({ blocks: [] }, /not an object with a list of blocks/)
    await refused(
      { blocks: Array.from({ length: 1_001 }, () => ({})) },
      /has 1001 blocks, and 1000/,
    )
    await refused({ blocks: [{ number: 5 }, { number: 5 }] }, /two blocks with one number/)
    await refused({ blocks: [{}], chain: 'Ethereum' }, /not an object with a list of blocks/)
    await refused({ blocks: [{}], network: 'A__B__C' }, /has a network of three parts$/)
    const numbered = fileOf(t, { blocks: [{}], network: 7 })
    await assert.rejects(readFixture(numbered), { code: 'PRIMITIVES_NAME_INVALID' })
    const most = fileOf(t, { blocks: Array.from({ length: 1_000 }, () => ({})) })
    assert.equal((await readFixture(most)).blocks.length, 1_000)
    await assert.rejects(readFixture('/nowhere.json'), { code: 'TOOLKIT_FIXTURE_INVALID' })
  })

  it('is read with two million values, and refused with more', async (t) => {
    const of = (values: number): string =>
      fileOf(t, `{"blocks":[],"x":[${'0,'.repeat(values - 4)}0]}`)
    const code = 'TOOLKIT_FIXTURE_INVALID'
    await assert.rejects(readFixture(of(2_000_000)), { code, message: / is not an object with a/ })
    await assert.rejects(readFixture(of(2_000_001)), {
      code,
      message: / has more than 2000000 val/,
    })
  })

  it('of whatever JSON is read or refused, and fails in no other way', async () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(address, topic, '0x1', 3, true))
    const log = fc.record(
      { address: value, topics: fc.oneof(value, fc.array(value)), data: value, logIndex: value },
      { requiredKeys: [] },
    )
    const transaction = fc.record(
      {
        hash: value,
        status: value,
        value,
        logs: fc.oneof(value, fc.array(log)),
        accessList: value,
      },
      { requiredKeys: [] },
    )
    const block = fc.record(
      {
        number: value,
        hash: value,
        timestamp: value,
        transactions: fc.oneof(value, fc.array(transaction)),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(value, block), async (given) => {
        try {
          const blocks = readBlocks([given], 'blocks')
          const store = await openTrialStore({ network: 'Ethereum__Mainnet', blocks })
          await store.close()
        } catch (error) {
          assert.ok(
            error instanceof ServiceError && error.code === 'TOOLKIT_FIXTURE_INVALID',
            String(error),
          )
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('the store of a test', () => {
  const network = 'Ethereum__Mainnet'

  it('has the blocks in their order, in a folder that goes with it', async (t) => {
    const folder = temporaryFolder(t)
    const blocks = readBlocks([{ number: 9 }, { number: 7 }, { number: 10 }], 'blocks')
    const store = await openTrialStore({ network, blocks })
    assert.deepEqual(store.heights, [7, 9, 10])
    assert.deepEqual(readdirSync(folder), [basename(store.path)])
    await store.close()
    assert.deepEqual(readdirSync(folder), [])
  })
})

describe('the samples', () => {
  it('are three blocks that follow one another', () => {
    const samples = sampleBlocks()
    assert.deepEqual(
      samples.map(({ number }) => number),
      [21_000_000, 21_000_001, 21_000_002],
    )
    assert.equal(samples[1]?.block.parentHash, samples[0]?.hash)
  })
})
