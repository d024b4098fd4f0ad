/** The canonical block, against a model that counts for every block who stands on it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BlockRef } from '../../../src/host/fork-choice/block-ref.ts'
import { canonicalBlock, standsOn } from '../../../src/host/fork-choice/canonical.ts'
import { type BlockWorld, branch, createBlockWorld, link } from './block-world.ts'

/** 1..5 of branch a stored, 4b and 5b beside them, and 6c far from all. */
function smallWorld(): BlockWorld {
  const world = createBlockWorld()
  for (const each of branch('a', 0, 5)) world.store(each)
  for (const each of branch('b', 4, 5, '3a')) world.add(each)
  return world
}

const at = (world: BlockWorld, hash: string | null): BlockRef | null =>
  hash === null ? null : (world.find(hash) ?? assert.fail(`no block ${hash}`))

const table: readonly (readonly [string, readonly (string | null)[], string | null])[] = [
  ['nobody counts', [], null],
  ['one signer is followed', ['5a'], '5a'],
  ['of two both must agree', ['5a', '4a'], '4a'],
  ['two on two branches share where they part', ['5a', '5b'], '3a'],
  ['of three a liar is not heard', ['5a', '5a', '5b'], '5a'],
  ['of three one may be nowhere', ['5a', null, '5a'], '5a'],
  ['of two none may be nowhere', ['5a', null], null],
  ['of three on three blocks the middle one is canonical', ['5a', '4a', '2a'], '4a'],
  ['equal halves share where they part', ['5a', '5a', '5b', '5b'], '3a'],
]

for (const [name, stands, expected] of table) {
  test(name, () => {
    const world = smallWorld()
    const found = canonicalBlock(
      world,
      stands.map((hash) => at(world, hash)),
    )
    assert.equal(found?.hash ?? null, expected)
  })
}

test('two chains with different first blocks share nothing', () => {
  const world = createBlockWorld()
  world.add(link(0, 'a', 'nothing'))
  world.add(link(0, 'b', 'nothing'))
  assert.equal(canonicalBlock(world, [at(world, '0a'), at(world, '0b')]), null)
})

/** Trees of up to forty blocks, of which one branch is stored, perhaps with a gap. */
const worlds = fc
  .record({
    parents: fc.array(fc.nat(), { minLength: 1, maxLength: 40, size: 'max' }),
    tip: fc.nat(),
    gap: fc.option(fc.nat({ max: 10 })),
  })
  .map(({ parents, tip, gap }) => {
    const links: BlockRef[] = [link(0, 'x0', 'nothing')]
    for (const [index, choice] of parents.entries()) {
      const parent = links[choice % links.length] ?? link(0, 'x0', 'nothing')
      links.push(link(parent.number + 1, `x${index + 1}`, parent.hash))
    }
    const world = createBlockWorld()
    for (const each of links) world.add(each)
    const stored: BlockRef[] = []
    for (let own = links[tip % links.length]; own !== undefined; own = world.find(own.parentHash))
      stored.push(own)
    for (const each of stored) if (each.number !== gap) world.store(each)
    return { world, links }
  })

/** Whether a block is another one or below it, as far as what is known leads there. */
function naiveStandsOn(world: BlockWorld, upper: BlockRef, lower: BlockRef): boolean {
  for (let own: BlockRef | undefined = upper; own !== undefined; own = world.find(own.parentHash)) {
    if (own.hash === lower.hash) return true
    if (world.chain.get(own.number) === own && world.chain.get(own.number - 1) === undefined)
      return false
  }
  return false
}

test('in any tree the highest block on which a majority stands is canonical', () => {
  const scene = worlds.chain(({ world, links }) =>
    fc.record({
      world: fc.constant(world),
      stands: fc.array(fc.option(fc.constantFrom(...links)), { maxLength: 6 }),
    }),
  )
  fc.assert(
    fc.property(scene, ({ world, stands }) => {
      const majority = world.links().filter((block) => {
        const on = stands.filter((own) => own !== null && naiveStandsOn(world, own, block))
        return 2 * on.length > stands.length
      })
      const highest = majority.sort((a, b) => b.number - a.number)[0] ?? null
      assert.equal(canonicalBlock(world, stands)?.hash ?? null, highest?.hash ?? null)
    }),
    { numRuns: 2_000 },
  )
})

test('of any two blocks of any tree it is known whether one stands on the other', () => {
  const scene = worlds.chain(({ world, links }) =>
    fc.record({
      world: fc.constant(world),
      upper: fc.constantFrom(...links),
      lower: fc.constantFrom(...links),
    }),
  )
  fc.assert(
    fc.property(scene, ({ world, upper, lower }) => {
      assert.equal(standsOn(world, upper, lower), naiveStandsOn(world, upper, lower))
    }),
    { numRuns: 1_000 },
  )
})
