/** What a Host asks its peers for, given what it knows: a case a name. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BlockRef } from '../../../src/host/fork-choice/block-ref.ts'
import {
  droppedOf,
  type Want,
  type WantFacts,
  wantsOf,
} from '../../../src/host/fork-choice/wants.ts'
import { type BlockWorld, branch, createBlockWorld, link } from './block-world.ts'

interface Scene {
  readonly name: string
  readonly stored?: readonly (readonly [name: string, from: number, to: number])[]
  readonly waiting?: readonly (readonly [name: string, from: number, to: number, parent?: string])[]
  /** The heads of accepted signers, as in `12a`; they have sealed what is there of that branch, zoe the rest. */
  readonly heads?: Readonly<Record<string, string>>
  /** Accepted signers. Default 1. */
  readonly accepted?: number
  /** Other documents that bob and carol sealed: their root by the block. */
  readonly others?: Readonly<Record<string, string>>
  readonly facts?: Partial<WantFacts>
  /** As in `6-12 12a for alice`. */
  readonly expected: readonly string[]
}

const scenes: readonly Scene[] = [
  { name: 'an empty Host whose signers said nothing wants nothing', expected: [] },
  {
    name: 'an empty Host wants everything up to a head',
    heads: { alice: '12a' },
    expected: ['0-12 12a for alice'],
  },
  {
    name: 'of a long chain an empty Host wants what it is to keep, the window first',
    heads: { alice: '5000a' },
    facts: { floor: 4_001, windowFloor: 4_501 },
    expected: ['4501-5000 5000a for alice'],
  },
  {
    name: 'a head that is stored wants nothing',
    stored: [['a', 0, 12]],
    heads: { alice: '12a' },
    expected: [],
  },
  {
    name: 'a head above what is stored wants what lies between',
    stored: [['a', 0, 9]],
    heads: { alice: '12a' },
    expected: ['10-12 12a for alice'],
  },
  {
    name: 'two signers with one head are one want',
    stored: [['a', 0, 9]],
    heads: { alice: '12a', bob: '12a' },
    expected: ['10-12 12a for alice'],
  },
  {
    name: 'two signers on two branches are two wants',
    stored: [['a', 0, 9]],
    heads: { alice: '12a', bob: '11b' },
    expected: ['10-12 12a for alice', '10-11 11b for bob'],
  },
  {
    name: 'a head at or below what is stored, on another branch, is asked for alone',
    stored: [['a', 0, 9]],
    heads: { alice: '8b' },
    expected: ['8-8 8b for alice'],
  },
  {
    name: 'a head as high as what is stored, on another branch, is asked for alone',
    stored: [['a', 0, 9]],
    heads: { alice: '9b' },
    expected: ['9-9 9b for alice'],
  },
  {
    name: 'a head above blocks that wait on top of what is stored wants what lies above these',
    stored: [['a', 0, 9]],
    waiting: [['a', 10, 12]],
    heads: { alice: '15a' },
    expected: ['13-15 15a for alice'],
  },
  {
    name: 'a branch that hangs in the air near block 0 is followed down to that',
    stored: [['a', 0, 9]],
    waiting: [['b', 2, 5]],
    heads: { alice: '5b' },
    expected: ['0-1 1b for alice'],
  },
  {
    name: 'a branch that hangs in the air is followed downwards',
    stored: [['a', 0, 9]],
    waiting: [['b', 8, 8]],
    heads: { alice: '8b' },
    expected: ['7-7 7b for alice'],
  },
  {
    name: 'more at a time the deeper it goes',
    stored: [['a', 0, 200]],
    waiting: [['b', 101, 132]],
    heads: { alice: '132b' },
    expected: ['69-100 100b for alice'],
  },
  {
    name: 'but a piece at most',
    stored: [['a', 0, 900]],
    waiting: [['b', 301, 600]],
    heads: { alice: '600b' },
    expected: ['237-300 300b for alice'],
  },
  {
    name: 'what documents that few signers sealed stand on, and other documents of that block',
    stored: [['a', 0, 9]],
    waiting: [['b', 8, 8]],
    heads: { alice: '8b' },
    accepted: 3,
    expected: ['7-7 7b for alice', '8-8 8b for alice'],
  },
  {
    name: 'those that more signers sealed come first',
    stored: [['a', 0, 9]],
    waiting: [['b', 8, 8]],
    heads: { alice: '8b' },
    accepted: 3,
    others: { '8b': 'other' },
    expected: ['8-8 8b other for alice', '7-7 7b for alice'],
  },
  {
    name: 'a head far above, with a block of its branch in the air: both below and above it',
    stored: [['a', 0, 9]],
    waiting: [['a', 12, 12]],
    heads: { alice: '15a' },
    expected: ['10-11 11a for alice', '13-15 15a for alice'],
  },
  {
    name: 'a block in the air above an empty store: everything below it, and above it',
    waiting: [['a', 12, 12]],
    heads: { alice: '15a' },
    expected: ['0-11 11a for alice', '13-15 15a for alice'],
  },
  {
    name: 'a branch that hangs in the air right above what is stored is followed downwards',
    stored: [['a', 0, 9]],
    waiting: [['b', 10, 12]],
    heads: { alice: '12b' },
    expected: ['7-9 9b for alice'],
  },
  {
    name: 'what was pulled and stands on nothing stored, the stored tip having been left, is not asked for again',
    stored: [['a', 0, 9]],
    waiting: [
      ['b', 10, 73],
      ['b', 91, 100],
    ],
    heads: { alice: '100b' },
    expected: ['74-90 90b for alice'],
  },
  {
    name: 'nor is it where another block of the missing height is here',
    stored: [['a', 0, 9]],
    waiting: [
      ['b', 10, 73],
      ['other b', 90, 90],
      ['b', 91, 100],
    ],
    heads: { alice: '100b' },
    expected: ['74-90 90b for alice'],
  },
  {
    name: 'a head below what is kept wants nothing',
    stored: [['a', 90, 100]],
    heads: { alice: '5b' },
    facts: { floor: 90 },
    expected: [],
  },
  {
    name: 'a head as low as what is kept is asked for',
    stored: [['a', 90, 100]],
    heads: { alice: '90b' },
    facts: { floor: 90 },
    expected: ['90-90 90b for alice'],
  },
  {
    name: 'documents that were dropped are pulled again, neighbours at a time',
    stored: [['a', 0, 9]],
    waiting: [['a', 10, 14]],
    heads: { alice: '14a' },
    facts: { dropped: [link(10, 'a'), link(11, 'a'), link(14, 'a')] },
    expected: ['10-11 11a for documents'],
  },
  {
    name: 'documents that more signers vouch for are asked for by their root',
    stored: [['a', 0, 9]],
    facts: { revised: [{ ...link(4, 'a'), root: 'other' }] },
    expected: ['4-4 4a other for documents'],
  },
  {
    name: 'what documents that are here stand on is followed downwards',
    stored: [['a', 0, 9]],
    waiting: [['b', 4, 5]],
    facts: { revised: [link(5, 'b')] },
    expected: ['2-3 3b for documents'],
  },
  {
    name: 'documents that are here and stand on what is stored want nothing',
    stored: [['a', 0, 9]],
    waiting: [['b', 4, 5, '3a']],
    facts: { revised: [link(5, 'b')] },
    expected: [],
  },
  {
    name: 'gaps fill from above, a piece at a time, two at once',
    stored: [['a', 500, 600]],
    facts: {
      gaps: [
        { from: 300, to: 499, hash: '499a' },
        { from: 200, to: 210, hash: '210a' },
        { from: 0, to: 5, hash: '5a' },
      ],
    },
    expected: ['436-499 499a for gap', '200-210 210a for gap'],
  },
  {
    name: 'what waits in a gap is not asked for again',
    stored: [['a', 500, 600]],
    waiting: [['a', 490, 499]],
    facts: { gaps: [{ from: 300, to: 499, hash: '499a' }] },
    expected: ['426-489 489a for gap'],
  },
  {
    name: 'in a gap as well, the block that names a parent is wanted with the documents most sealed',
    stored: [['a', 500, 600]],
    waiting: [['a', 490, 499]],
    accepted: 3,
    others: { '490a': 'other' },
    facts: { gaps: [{ from: 300, to: 499, hash: '499a' }] },
    expected: ['490-490 490a other for gap', '426-489 489a for gap'],
  },
  {
    name: 'nothing below what is kept fills a gap',
    stored: [['a', 500, 600]],
    facts: { floor: 480, gaps: [{ from: 300, to: 499, hash: '499a' }] },
    expected: ['480-499 499a for gap'],
  },
  {
    name: 'of a gap the block as low as what is kept is asked for',
    stored: [['a', 500, 600]],
    facts: { floor: 499, gaps: [{ from: 300, to: 499, hash: '499a' }] },
    expected: ['499-499 499a for gap'],
  },
  {
    name: 'the lowest block of a gap is asked for alone, whatever is kept below',
    stored: [
      ['a', 0, 299],
      ['a', 500, 600],
    ],
    waiting: [['a', 301, 499]],
    facts: { gaps: [{ from: 300, to: 499, hash: '499a' }] },
    expected: ['300-300 300a for gap'],
  },
  {
    name: 'a gap below what is kept wants nothing',
    stored: [['a', 500, 600]],
    facts: { floor: 500, gaps: [{ from: 300, to: 499, hash: '499a' }] },
    expected: [],
  },
  {
    name: 'a gap whose blocks are all there wants nothing',
    stored: [['a', 4, 9]],
    waiting: [['a', 0, 3]],
    facts: { gaps: [{ from: 0, to: 3, hash: '3a' }] },
    expected: [],
  },
  {
    name: 'what waits in a gap and goes on below it, beside what is stored there, is followed',
    stored: [
      ['a', 0, 299],
      ['b', 500, 600],
    ],
    waiting: [['b', 290, 499]],
    facts: { gaps: [{ from: 300, to: 499, hash: '499b' }] },
    expected: ['226-289 289b for gap'],
  },
]

function worldOf({
  stored = [],
  waiting = [],
  heads = {},
  accepted = 1,
  others = {},
}: Scene): BlockWorld {
  const world = createBlockWorld({ accepted })
  for (const [name, from, to] of stored)
    for (const block of branch(name, from, to)) world.store(block)
  for (const [name, from, to, parent] of waiting)
    for (const block of branch(name, from, to, parent)) world.add(block)
  for (const block of world.links()) sealFor(world, block, heads, others)
  return world
}

function sealFor(
  world: BlockWorld,
  block: BlockRef,
  heads: NonNullable<Scene['heads']>,
  others: NonNullable<Scene['others']>,
): void {
  const isOf = (head: string): boolean => block.hash.endsWith(head.slice(-1))
  const own = Object.keys(heads).filter((identity) => isOf(heads[identity] ?? ''))
  for (const identity of own.length === 0 ? ['zoe'] : own) world.seal(block, identity)
  const root = others[block.hash]
  if (root !== undefined) for (const who of ['bob', 'carol']) world.seal({ ...block, root }, who)
}

function factsOf({ heads = {}, stored = [], facts }: Scene): WantFacts {
  return {
    signers: Object.entries(heads).map(([identity, hash]) => {
      const number = Number.parseInt(hash, 10)
      return { identity, head: { number, hash, nodeHeight: number }, heardMs: 0 }
    }),
    head: Math.max(-1, ...stored.map(([, , to]) => to)),
    windowFloor: 0,
    floor: 0,
    dropped: [],
    revised: [],
    gaps: [],
    ...facts,
  }
}

const textOf = ({ from, to, hash, root, purpose }: Want): string =>
  `${from}-${to} ${hash}${root === null ? '' : ` ${root}`} for ${purpose}`

describe('what is wanted', () => {
  for (const scene of scenes)
    test(scene.name, () => {
      assert.deepEqual(wantsOf(worldOf(scene), factsOf(scene)).map(textOf), scene.expected)
    })
})

test('of the blocks on the way to the canonical one those without their bytes were dropped', () => {
  const world = worldOf({ name: '', stored: [['a', 0, 9]], waiting: [['a', 10, 14]], expected: [] })
  const hasBody = ({ number }: BlockRef): boolean => number % 2 === 0
  assert.deepEqual(
    droppedOf(world, link(14, 'a'), hasBody).map(({ hash }) => hash),
    ['11a', '13a'],
  )
})

test('what a thousand lying heads make a Host want is a range for each, within what it keeps', () => {
  const world = worldOf({ name: '', stored: [['a', 0, 100]], expected: [] })
  const heads = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index) => [`liar ${index}`, `${50 + index}b`]),
  )
  const wants = wantsOf(world, factsOf({ name: '', stored: [['a', 0, 100]], heads, expected: [] }))
  assert.equal(wants.length, 1_000)
  assert.ok(wants.every(({ from, to }) => from >= 50 && to < 1_050))
})
