/** What becomes of a waiting block that belongs below what a Host stores, or in a stored block's place. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BlockRef } from '../../../src/host/fork-choice/block-ref.ts'
import { fillStep } from '../../../src/host/fork-choice/decision.ts'
import { type BlockWorld, branch, createBlockWorld, link } from './block-world.ts'

interface Scene {
  readonly stored: readonly (readonly BlockRef[])[]
  readonly waiting: readonly BlockRef[]
  /** Whether most signers sealed what waits. Default true. */
  readonly isSealed?: boolean
}

function worldOf({ stored, waiting, isSealed = true }: Scene): BlockWorld {
  const world = createBlockWorld()
  for (const each of stored.flat()) world.store(each)
  for (const each of waiting) {
    world.add(each)
    if (isSealed) world.seal(each, 'A')
  }
  return world
}

/** The step for the highest waiting block: what comes, as in `4a 5a`, and what goes: lowest, highest, how many. */
function stepOf(scene: Scene): unknown {
  const step = fillStep(worldOf(scene), scene.waiting.at(-1) ?? assert.fail())
  if (step === null || step === 'later') return step
  assert.notEqual(step.kind, 'shrink')
  const path = step.kind === 'shrink' ? [] : step.path
  const comes = path.map(({ hash }) => hash).join(' ')
  if (step.kind === 'append') return { comes }
  return { comes, goes: [step.conflict.from, step.conflict.to, step.conflict.depth] }
}

const hashes = (links: readonly BlockRef[]): string => links.map(({ hash }) => hash).join(' ')

describe('below a stored block', () => {
  test('its parent is stored, whether more is known below that or not', () => {
    const waiting = [link(4, 'a')]
    assert.deepEqual(stepOf({ stored: [branch('a', 5, 9)], waiting }), { comes: '4a' })
    assert.deepEqual(stepOf({ stored: [branch('a', 0, 3), branch('a', 5, 9)], waiting }), {
      comes: '4a',
    })
  })

  test('a gap of any length is closed at once where all of it stands on what is stored', () => {
    const waiting = branch('a', 50, 149)
    const stored = [branch('a', 0, 49), branch('a', 150, 160)]
    assert.deepEqual(stepOf({ stored, waiting }), { comes: hashes(waiting) })
  })

  test('nothing is stored of what neither stands there nor was asked for', () => {
    assert.equal(stepOf({ stored: [branch('a', 5, 9)], waiting: [link(4, 'b')] }), null)
    assert.equal(stepOf({ stored: [branch('a', 6, 9)], waiting: [link(4, 'a')] }), null)
  })

  test('a block that is stored already changes nothing', () => {
    const world = worldOf({ stored: [branch('a', 4, 9)], waiting: [] })
    assert.equal(fillStep(world, link(4, 'a')), null)
  })
})

describe('another branch below a stored block', () => {
  const above = branch('c', 61, 65)

  test('takes the place of what is stored down to where they part', () => {
    const waiting = branch('c', 41, 60, '40a')
    assert.deepEqual(stepOf({ stored: [branch('a', 0, 50), above], waiting }), {
      comes: hashes(waiting),
      goes: [41, 50, 10],
    })
  })

  test('takes nothing away by the word of fewer than most signers', () => {
    const waiting = branch('c', 41, 60, '40a')
    const stored = [branch('a', 0, 50), above]
    assert.equal(stepOf({ stored, waiting, isSealed: false }), 'later')
  })

  test('waits for its lower blocks, until they are as many as one piece has', () => {
    const stored = [branch('a', 0, 100), branch('c', 131, 135)]
    assert.equal(stepOf({ stored, waiting: branch('c', 69, 130) }), 'later')
    const waiting = branch('c', 68, 130)
    assert.deepEqual(stepOf({ stored, waiting }), { comes: hashes(waiting), goes: [67, 100, 34] })
  })

  test('waits as well where it contradicts no more than what is stored in its parent’s place', () => {
    const stored = [branch('a', 0, 68), branch('c', 131, 135)]
    assert.equal(stepOf({ stored, waiting: branch('c', 69, 130) }), 'later')
  })

  test('comes at once where all that is stored lies further below: a gap stays', () => {
    const stored = [branch('a', 0, 60), branch('c', 131, 135)]
    const waiting = branch('c', 71, 130)
    assert.deepEqual(stepOf({ stored, waiting }), { comes: hashes(waiting) })
  })

  test('comes from the top in pieces of 63, and what a piece does not stand on goes as well', () => {
    const waiting = branch('c', 50, 199, '49a')
    assert.deepEqual(stepOf({ stored: [branch('a', 0, 150), branch('c', 200, 205)], waiting }), {
      comes: hashes(branch('c', 137, 199)),
      goes: [136, 150, 15],
    })
  })
})

describe('better documents of a stored block', () => {
  const better: BlockRef = { ...link(5, 'a'), root: 'another root' }

  test('take its place alone where they name the same parent', () => {
    for (const stored of [branch('a', 0, 9), branch('a', 5, 9)])
      assert.deepEqual(stepOf({ stored: [stored], waiting: [better] }), {
        comes: '5a',
        goes: [5, 5, 1],
      })
  })

  test('that name another parent wait for it, and take what is below away with it', () => {
    const moved: BlockRef = { ...better, parentHash: '4b' }
    const stored = [branch('a', 0, 9)]
    assert.equal(stepOf({ stored, waiting: [moved] }), 'later')
    assert.deepEqual(stepOf({ stored, waiting: [...branch('b', 3, 4, '2a'), moved] }), {
      comes: '3b 4b 5a',
      goes: [3, 5, 3],
    })
  })
})
