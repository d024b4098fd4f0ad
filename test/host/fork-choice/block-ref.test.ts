/** What a block stands on, as far as it is known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findBlock,
  footOf,
  isStored,
  parentOf,
  pathTo,
} from '../../../src/host/fork-choice/block-ref.ts'
import { type BlockWorld, branch, createBlockWorld, link } from './block-world.ts'

/** 0a to 5a are stored, 6a to 9a wait on them, 4b to 8b beside them on 3a, and 7c to 9c in the air. */
function smallWorld(): BlockWorld {
  const world = createBlockWorld()
  for (const each of branch('a', 0, 5)) world.store(each)
  for (const each of branch('a', 6, 9)) world.add(each)
  for (const each of branch('b', 4, 8, '3a')) world.add(each)
  for (const each of branch('c', 7, 9)) world.add(each)
  return world
}

test('a chain of waiting blocks stands on the stored block below its lowest', () => {
  const world = smallWorld()
  const onTop = { lowest: link(6, 'a'), base: link(5, 'a'), isLinked: true }
  const beside = { lowest: link(4, 'b', '3a'), base: link(3, 'a'), isLinked: true }
  for (const number of [9, 7, 6, 8]) assert.deepEqual(footOf(world, link(number, 'a')), onTop)
  for (const number of [6, 8, 5]) assert.deepEqual(footOf(world, link(number, 'b')), beside)
})

test('a chain whose lowest block has no known parent is linked where that is a root', () => {
  const world = smallWorld()
  const inTheAir = { lowest: link(7, 'c'), base: null, isLinked: false }
  for (const number of [8, 9, 7]) assert.deepEqual(footOf(world, link(number, 'c')), inTheAir)
  const fromRoot = createBlockWorld({ rootBelow: 7 })
  for (const each of branch('c', 7, 9)) fromRoot.add(each)
  assert.deepEqual(footOf(fromRoot, link(9, 'c')), { ...inTheAir, isLinked: true })
})

test('a stored block stands on itself', () => {
  const at = link(5, 'a')
  assert.deepEqual(footOf(smallWorld(), at), { lowest: at, base: at, isLinked: true })
})

test('what waits between what is stored and a block is listed upwards', () => {
  const world = smallWorld()
  assert.deepEqual(pathTo(world, link(9, 'a')), branch('a', 6, 9))
  assert.deepEqual(pathTo(world, link(6, 'b')), branch('b', 4, 6, '3a'))
  assert.deepEqual(pathTo(world, link(8, 'c')), branch('c', 7, 8))
  assert.deepEqual(pathTo(world, link(5, 'a')), [])
})

test('a block is found at its height alone, whether it is stored or waits', () => {
  const world = smallWorld()
  assert.deepEqual(findBlock(world, 5, '5a'), link(5, 'a'))
  assert.deepEqual(findBlock(world, 6, '6a'), link(6, 'a'))
  const wrong: readonly (readonly [number, string])[] = [
    [4, '5a'],
    [7, '6a'],
    [5, '5x'],
  ]
  for (const [number, hash] of wrong) assert.equal(findBlock(world, number, hash), undefined, hash)
  assert.deepEqual(parentOf(world, link(6, 'a')), link(5, 'a'))
  assert.equal(parentOf(world, link(7, 'c')), undefined)
})

test('a block is stored with its own documents alone', () => {
  const world = smallWorld()
  assert.ok(isStored(world, link(5, 'a')))
  assert.ok(!isStored(world, { ...link(5, 'a'), root: 'other documents' }))
  assert.ok(!isStored(world, link(5, 'b')))
  assert.ok(!isStored(world, link(6, 'a')))
})
