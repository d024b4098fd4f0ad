/** What has to go for a branch, and when it may. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mayReplace, type ReplacementFacts } from '../../../src/host/fork-choice/permission.ts'
import { replacementFor } from '../../../src/host/fork-choice/replacement.ts'
import { type BlockWorld, branch, createBlockWorld } from './block-world.ts'

interface Scene {
  readonly name: string
  readonly stored: readonly (readonly [name: string, from: number, to: number])[]
  readonly waiting: readonly (readonly [name: string, from: number, to: number, parent?: string])[]
  readonly target: string
  readonly rootBelow?: number
  /** The blocks that come, and the heights that go with their number; null where nothing happens. */
  readonly expected: {
    readonly path: string
    readonly conflict: readonly [number, number, number] | null
  } | null
}

const scenes: readonly Scene[] = [
  {
    name: 'a stored block changes nothing, whatever is stored above it',
    stored: [['a', 0, 9]],
    waiting: [],
    target: '5a',
    expected: null,
  },
  {
    name: 'a block on top of the chain is added',
    stored: [['a', 0, 5]],
    waiting: [['a', 6, 6]],
    target: '6a',
    expected: { path: '6a', conflict: null },
  },
  {
    name: 'with those below it that wait',
    stored: [['a', 0, 5]],
    waiting: [['a', 6, 8]],
    target: '8a',
    expected: { path: '6a 7a 8a', conflict: null },
  },
  {
    name: 'a block whose ancestry is not known changes nothing',
    stored: [['a', 0, 5]],
    waiting: [['b', 8, 9]],
    target: '9b',
    expected: null,
  },
  {
    name: 'of another branch everything from where it parts gives way',
    stored: [['a', 0, 9]],
    waiting: [['b', 6, 7, '5a']],
    target: '7b',
    expected: { path: '6b 7b', conflict: [6, 9, 4] },
  },
  {
    name: 'what lies beyond a gap above it does not',
    stored: [
      ['a', 0, 5],
      ['z', 500, 599],
    ],
    waiting: [['b', 5, 7, '4a']],
    target: '7b',
    expected: { path: '5b 6b 7b', conflict: [5, 5, 1] },
  },
  {
    name: 'what stands on it does not either',
    stored: [
      ['a', 0, 5],
      ['b', 8, 9],
    ],
    waiting: [['b', 5, 7, '4a']],
    target: '7b',
    expected: { path: '5b 6b 7b', conflict: [5, 5, 1] },
  },
  {
    name: 'what stands right above it on another block does',
    stored: [
      ['a', 0, 5],
      ['z', 8, 9],
    ],
    waiting: [['b', 6, 7, '5a']],
    target: '7b',
    expected: { path: '6b 7b', conflict: [8, 9, 2] },
  },
  {
    name: 'a root in an empty store is stored',
    stored: [],
    waiting: [['a', 900, 902]],
    target: '902a',
    rootBelow: 900,
    expected: { path: '900a 901a 902a', conflict: null },
  },
  {
    name: 'a root far above what is stored leaves a gap',
    stored: [['a', 0, 5]],
    waiting: [['a', 900, 901]],
    target: '901a',
    rootBelow: 900,
    expected: { path: '900a 901a', conflict: null },
  },
  {
    name: 'a root contradicts what is stored in its parent’s place and above',
    stored: [['a', 890, 905]],
    waiting: [['b', 900, 901]],
    target: '901b',
    rootBelow: 900,
    expected: { path: '900b 901b', conflict: [899, 905, 7] },
  },
  {
    name: 'another block 0 contradicts everything that is stored',
    stored: [['a', 0, 3]],
    waiting: [['b', 0, 1, 'nothing']],
    target: '1b',
    expected: { path: '0b 1b', conflict: [0, 3, 4] },
  },
]

function worldOf({ stored, waiting, rootBelow = 0 }: Scene): BlockWorld {
  const world = createBlockWorld({ rootBelow })
  for (const [name, from, to] of stored)
    for (const each of branch(name, from, to)) world.store(each)
  for (const [name, from, to, parent] of waiting)
    for (const each of branch(name, from, to, parent)) world.add(each)
  return world
}

describe('to follow a block', () => {
  for (const scene of scenes) {
    test(scene.name, () => {
      const world = worldOf(scene)
      const found = replacementFor(world, world.find(scene.target) ?? assert.fail('no target'))
      const summary = found && {
        path: found.path.map(({ hash }) => hash).join(' '),
        conflict: found.conflict && [found.conflict.from, found.conflict.to, found.conflict.depth],
      }
      assert.deepEqual(summary, scene.expected)
    })
  }
})

describe('stored blocks give way', () => {
  const facts: ReplacementFacts = {
    depth: 1,
    accepted: 1,
    counted: 1,
    canonicalForMs: 0,
    majorityForMs: null,
    replacedLately: 0,
  }
  const table: readonly (readonly [
    string,
    Partial<ReplacementFacts>,
    ReturnType<typeof mayReplace>,
  ])[] = [
    ['to a sole signer at once, up to 64 of them', { depth: 64 }, { kind: 'now' }],
    ['to two that agree at once', { accepted: 2, counted: 2 }, { kind: 'now' }],
    [
      'to three once the branch stayed canonical for five seconds',
      { accepted: 3, counted: 3, canonicalForMs: 5_000 },
      { kind: 'now' },
    ],
    [
      'but not to three a millisecond sooner',
      { accepted: 3, counted: 3, canonicalForMs: 4_999 },
      { kind: 'wait', forMs: 1 },
    ],
    ['not more than 64 by those that count alone', { depth: 65 }, { kind: 'too-deep' }],
    [
      'more when most of all signers have been there for a minute',
      { depth: 5_000, majorityForMs: 60_000 },
      { kind: 'now' },
    ],
    [
      'but not more a second sooner',
      { depth: 65, majorityForMs: 59_000 },
      { kind: 'wait', forMs: 1_000 },
    ],
    [
      'to half of the signers only as far as 64 an hour go',
      { accepted: 2, counted: 1, depth: 30, replacedLately: 34 },
      { kind: 'now' },
    ],
    [
      'but not to half of the signers beyond 64 an hour',
      { accepted: 2, counted: 1, depth: 31, replacedLately: 34 },
      { kind: 'too-deep' },
    ],
    [
      'to more than half as often as they like',
      { accepted: 3, counted: 2, depth: 64, replacedLately: 6_400, canonicalForMs: 5_000 },
      { kind: 'now' },
    ],
  ]
  for (const [name, changes, expected] of table) {
    test(name, () => assert.deepEqual(mayReplace({ ...facts, ...changes }), expected))
  }
})
