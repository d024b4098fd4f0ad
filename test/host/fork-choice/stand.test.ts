/** On which block a signer stands, and which signers stand together. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Signer } from '../../../src/host/fork-choice/counting.ts'
import { type Side, sidesOf } from '../../../src/host/fork-choice/sides.ts'
import { type Stand, sharedBlock, standOf } from '../../../src/host/fork-choice/stand.ts'
import { type BlockWorld, branch, createBlockWorld, link } from './block-world.ts'

/**
 * 0a to 5a are stored, 4b to 7b wait beside them on 3a, 1e and 2e on 0a; 7c to 9c are in the air, and 0d to 5d begin
 * elsewhere.
 */
function smallWorld(): BlockWorld {
  const world = createBlockWorld()
  for (const each of branch('a', 0, 5)) world.store(each)
  for (const each of branch('b', 4, 7, '3a')) world.add(each)
  for (const each of branch('c', 7, 9)) world.add(each)
  for (const each of branch('d', 0, 5, 'nothing')) world.add(each)
  for (const each of branch('e', 1, 2, '0a')) world.add(each)
  return world
}

const signer = (hash: string, identity = 'alice'): Signer => {
  const number = Number.parseInt(hash, 10)
  return { identity, head: { number, hash, nodeHeight: number }, heardMs: 0 }
}

/** The block that a signer stands on which has sealed these, as in `5a`, and whether it is its head. */
function standing(head: string, ...sealed: readonly string[]): [string | null, boolean] {
  const world = smallWorld()
  for (const hash of sealed) world.seal(world.find(hash) ?? assert.fail(hash), 'alice')
  const { link: block, isHead } = standOf(world, signer(head))
  return [block?.hash ?? null, isHead]
}

test('a signer stands on its head where that is linked', () => {
  assert.deepEqual(standing('5a', '7b'), ['5a', true])
  assert.deepEqual(standing('7b', '5a'), ['7b', true])
})

test('a signer without a head of this chain stands nowhere', () => {
  const world = smallWorld()
  for (const each of branch('a', 1, 5)) world.seal(each, 'alice')
  const silent: Signer = { identity: 'alice', head: null, heardMs: 0 }
  assert.deepEqual(standOf(world, silent), { signer: silent, link: null, isHead: false })
})

test('a signer whose head is out of reach stands on the highest linked block that it sealed', () => {
  assert.deepEqual(standing('20x', '9c', '5a', '4a'), ['5a', false])
  assert.deepEqual(standing('9c', '9c', '8c', '6b', '5a'), ['6b', false])
  assert.deepEqual(standing('20x', '9c'), [null, false])
  assert.deepEqual(standing('5x', '6b', '4a'), ['4a', false], 'nothing above its head')
})

test('a signer that sealed several blocks of one height stands on what they have in common', () => {
  assert.deepEqual(standing('20x', '5a', '5b'), ['3a', false])
  assert.deepEqual(standing('20x', '4a', '4b'), ['3a', false])
  assert.deepEqual(standing('20x', '2a', '2e'), ['0a', false])
  assert.deepEqual(standing('20x', '5a', '4b'), ['5a', false])
  assert.deepEqual(standing('20x', '5a', '5b', '5d'), [null, false])
  assert.deepEqual(standing('20x', '0a', '0d'), [null, false])
})

test('blocks have nothing in common where it is not known what one of them stands on', () => {
  const world = createBlockWorld({ rootBelow: 3 })
  for (const each of branch('a', 0, 5)) world.store(each)
  const fromRoot = branch('f', 2, 4)
  for (const each of fromRoot) world.add(each)
  for (const each of [link(4, 'a'), ...fromRoot]) world.seal(each, 'alice')
  assert.deepEqual(standOf(world, signer('4f')).link, link(4, 'f'), 'it is linked')
  assert.equal(standOf(world, signer('20x')).link, null)
})

/** Where signers of these names stand. */
function standsOf(world: BlockWorld, heads: Readonly<Record<string, string>>): Stand[] {
  return Object.entries(heads).map(([identity, hash]) => standOf(world, signer(hash, identity)))
}

test('the block is shared on which more than half of the signers stand', () => {
  const world = smallWorld()
  const shared = (heads: Readonly<Record<string, string>>): string | undefined =>
    sharedBlock(world, standsOf(world, heads))?.hash
  assert.equal(shared({ alice: '5a', bob: '4a', carol: '7b' }), '4a')
  assert.equal(shared({ alice: '5a', bob: '20x' }), undefined)
})

test('signers that contradict each other are on sides of their own, the highest first', () => {
  const world = smallWorld()
  const heads = { alice: '4a', bob: '5b', carol: '5a', dave: '7b', erin: '3a', frank: '20x' }
  const sides: readonly Side[] = [
    { tip: link(7, 'b'), identities: ['dave', 'bob', 'erin'] },
    { tip: link(5, 'a'), identities: ['carol', 'alice'] },
  ]
  assert.deepEqual(sidesOf(world, standsOf(world, heads)), sides)
  assert.deepEqual(sidesOf(world, standsOf(world, { frank: '20x' })), [])
})
