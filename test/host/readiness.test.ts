/** When a Host is to be asked for data: a table that reads like the decision, and that no fleet loses its last replica. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ReadyFacts, type ReadySettings, unreadyReport } from '../../src/host/readiness.ts'

const standard: ReadySettings = { readyMinBlocks: 1, readyMaxLag: null }
/** A Host with all 301 blocks that there are. */
const whole: ReadyFacts = { blocks: 301, highest: 300, lag: 0, signed: 300, siblings: [300] }
const empty: ReadyFacts = { blocks: 0, highest: -1, lag: null, signed: 300, siblings: [] }

interface Case {
  readonly name: string
  readonly facts: Partial<ReadyFacts>
  readonly settings?: Partial<ReadySettings>
  readonly reason?: string
}

const cases: readonly Case[] = [
  { name: 'with all blocks it is ready', facts: {} },
  { name: 'without a block it is not', facts: empty, reason: 'too-few-blocks' },
  { name: 'nor where nobody has any', facts: { ...empty, signed: -1 }, reason: 'too-few-blocks' },
  {
    name: 'but where that is wanted',
    facts: { ...empty, signed: -1 },
    settings: { readyMinBlocks: 0 },
  },
  {
    name: 'with 0 blocks wanted it still waits for a replica that has some',
    facts: { ...empty, siblings: [300] },
    settings: { readyMinBlocks: 0 },
    reason: 'behind-sibling',
  },
  {
    name: 'with fewer blocks than are wanted it is not',
    facts: { blocks: 99 },
    settings: { readyMinBlocks: 100 },
    reason: 'too-few-blocks',
  },
  { name: 'with as many it is', facts: { blocks: 100 }, settings: { readyMinBlocks: 100 } },
  { name: 'however far it is behind its signers, it is ready by default', facts: { lag: 1e6 } },
  { name: 'at the lag that is allowed it is', facts: { lag: 50 }, settings: { readyMaxLag: 50 } },
  {
    name: 'above it is not',
    facts: { lag: 51 },
    settings: { readyMaxLag: 50 },
    reason: 'lagging',
  },
  {
    name: 'where no signer is heard no lag is known, and it stays ready',
    facts: { lag: null },
    settings: { readyMaxLag: 1 },
  },
  { name: '64 blocks behind another replica it is ready', facts: { highest: 236 } },
  { name: 'further it is not', facts: { highest: 235 }, reason: 'behind-sibling' },
  {
    name: 'a lag that is allowed holds for other replicas as well',
    facts: { highest: 235 },
    settings: { readyMaxLag: 65 },
  },
  { name: 'that another replica is gone changes nothing', facts: { siblings: [] } },
  {
    name: 'a replica that says more than anybody signed keeps no other from being ready',
    facts: { siblings: [1_000_000] },
  },
  { name: 'nor one where nobody signed anything', facts: { siblings: [1_000_000], signed: -1 } },
]

for (const { name, facts, settings, reason } of cases) {
  test(name, () => {
    const found = unreadyReport({ ...standard, ...settings }, { ...whole, ...facts })
    assert.equal(found?.reason, reason)
  })
}

test('what is missing is said with its figures and the setting', () => {
  const said = (settings: Partial<ReadySettings>, facts: Partial<ReadyFacts>): unknown =>
    unreadyReport({ ...standard, ...settings }, { ...whole, ...facts })?.message
  assert.equal(
    said({}, empty),
    '0 blocks are stored, and it is ready with 1 (HOST_READY_MIN_BLOCKS).',
  )
  assert.equal(
    said({ readyMaxLag: 50 }, { lag: 70 }),
    'It is 70 blocks behind its signers, and ready with 50 at most (HOST_READY_MAX_LAG).',
  )
  assert.equal(
    said({}, { highest: 64 }),
    'Another replica has block 300, and this one no more than block 64: it is ready with 64 fewer at most.',
  )
})

/** Replicas that have some blocks or none, of which others know what they said last, which may be long ago. */
const fleets = fc.record({
  signed: fc.nat(5_000),
  replicas: fc.array(
    fc.record({
      highest: fc.integer({ min: -1, max: 5_000 }),
      /** How much less it had when it said so last. */
      before: fc.nat(200),
      lag: fc.option(fc.nat(5_000)),
      /** Which of the others it is connected with. */
      knows: fc.array(fc.nat(7), { maxLength: 8 }),
    }),
    { minLength: 1, maxLength: 8 },
  ),
})

test('by default no fleet with blocks is without a ready replica, whoever knows whom', () => {
  fc.assert(
    fc.property(fleets, ({ signed, replicas }) => {
      const reports = replicas.map(({ highest, lag, knows }) =>
        unreadyReport(standard, {
          blocks: highest + 1,
          highest,
          lag,
          signed,
          siblings: knows.flatMap((index) => {
            const other = replicas[index]
            const said = other === undefined ? -1 : other.highest - other.before
            return said < 0 ? [] : [said]
          }),
        }),
      )
      const hasBlocks = replicas.some(({ highest }) => highest >= 0)
      assert.equal(reports.includes(null), hasBlocks)
    }),
    { numRuns: 2_000 },
  )
})
