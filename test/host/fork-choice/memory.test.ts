/** What a Host remembers from one decision to the next, and what it makes of that. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Signer } from '../../../src/host/fork-choice/counting.ts'
import {
  type DeepFork,
  decide,
  type Memory,
  noMemory,
} from '../../../src/host/fork-choice/decision.ts'
import { type BlockWorld, branch, createBlockWorld, link } from './block-world.ts'
import { minute } from './scene.ts'

const hour = 60 * minute
const nowMs = 10 * hour
const time = { nowMs, startedMs: 0 }

/** Blocks 0 to 100 are stored; so many of them are not on branch b, which goes up to 101. */
function forkOf(depth: number): BlockWorld {
  const world = createBlockWorld()
  for (const block of branch('a', 0, 100)) world.store(block)
  for (const block of branch('b', 101 - depth, 101, `${100 - depth}a`)) world.add(block)
  return world
}

/** A signer with this head, as in `5a`, that was heard just now. */
const heard = (identity: string, hash: string): Signer => {
  const number = Number.parseInt(hash, 10)
  return { identity, head: { number, hash, nodeHeight: number }, heardMs: nowMs }
}
const silent = (identity: string, hash: string): Signer => ({
  ...heard(identity, hash),
  heardMs: nowMs - hour,
})

const before: DeepFork = {
  target: link(90, 'before'),
  depth: 80,
  missing: [],
  isTooDeep: false,
}
const withFork: Memory = { ...noMemory, fork: before }

test('blocks that gave way are remembered for an hour', () => {
  const replaced = [{ atMs: 0, depth: 3 }]
  const after = (ms: number): Memory['replaced'] => {
    const world = createBlockWorld()
    return decide(world, [], { ...noMemory, replaced }, { nowMs: ms, startedMs: 0 }).memory.replaced
  }
  assert.deepEqual(after(hour - 1), replaced)
  assert.deepEqual(after(hour), [])
})

test('all that gave way within an hour counts for half of the signers', () => {
  const replaced = [10, 20].map((depth) => ({ atMs: nowMs - minute, depth }))
  const stepFor = (depth: number): string | undefined => {
    const signers = [heard('A', '101b'), silent('B', '100a')]
    return decide(forkOf(depth), signers, { ...noMemory, replaced }, time).step?.kind
  }
  assert.equal(stepFor(34), 'replace')
  assert.equal(stepFor(35), undefined)
})

test('64 blocks give way in one step, which is no deep fork', () => {
  const { step, choice } = decide(forkOf(64), [heard('A', '101b')], noMemory, time)
  assert.deepEqual(step, {
    kind: 'replace',
    path: branch('b', 37, 101, '36a'),
    conflict: { from: 37, to: 100, depth: 64 },
  })
  assert.equal(choice.fork, null)
})

test('a Host looks again when the branch has been canonical for long enough', () => {
  const signers = ['A', 'B', 'C'].map((identity) => heard(identity, '101b'))
  assert.equal(decide(forkOf(3), signers, noMemory, time).nextMs, nowMs + 5_000)
  const later = { nowMs: nowMs + 44_000, startedMs: 0 }
  assert.equal(decide(forkOf(3), signers, noMemory, later).nextMs, nowMs + 45_001)
})

describe('a fork that was deep is remembered', () => {
  const forkAfter = (...signers: readonly Signer[]): DeepFork | null => {
    const { choice, memory } = decide(forkOf(0), signers, withFork, time)
    assert.equal(choice.fork, memory.fork)
    return memory.fork
  }

  test('while nobody counts', () => {
    assert.equal(forkAfter(silent('A', '100a')), before)
  })

  test('while no more than half of the heads are linked', () => {
    assert.equal(forkAfter(heard('A', '100a'), heard('B', '200x')), before)
    assert.equal(forkAfter(heard('A', '100a'), heard('B', '100a'), heard('C', '200x')), null)
  })
})

describe('how long a branch has been canonical', () => {
  const signers = ['A', 'B', 'C'].map((identity) => heard(identity, '101b'))
  const sinceMs = nowMs - 3_000
  const sinceAfter = (branchHash: string, tip: string): number | undefined => {
    const world = forkOf(3)
    world.add(link(102, 'b'))
    world.add(link(99, 'c', '98a'))
    const block = world.find(tip) ?? assert.fail()
    const canonical = { branch: branchHash, tip: block, sinceMs }
    return decide(world, signers, { ...noMemory, canonical }, time).memory.canonical?.sinceMs
  }

  test('is remembered by its lowest block', () => {
    assert.equal(sinceAfter('98b', '99c'), sinceMs)
  })

  test('is remembered by the block that was canonical, above or below the one that is', () => {
    for (const tip of ['99b', '101b', '102b']) assert.equal(sinceAfter('gone', tip), sinceMs, tip)
  })

  test('begins again for another branch, and where what was canonical is stored', () => {
    for (const tip of ['99c', '97a']) assert.equal(sinceAfter('gone', tip), nowMs, tip)
  })
})

describe('a deep fork is decided', () => {
  const since = { branch: '31b', tip: link(101, 'b'), sinceMs: nowMs - minute }
  const memory: Memory = { canonical: since, majority: since, replaced: [], fork: before }
  const isTooDeepFor = (...signers: readonly Signer[]): boolean | undefined =>
    decide(forkOf(70), signers, noMemory, time).choice.fork?.isTooDeep

  test('by more than half of all signers, and by no fewer', () => {
    assert.equal(isTooDeepFor(heard('A', '101b'), silent('B', '100a')), true)
    assert.equal(isTooDeepFor(heard('A', '101b'), heard('B', '101b'), silent('C', '100a')), false)
  })

  test('as it was found, while most of all may stand on it whose heads are not linked', () => {
    const [a, b] = [heard('A', '101b'), heard('B', '101b')]
    const away = [silent('D', '100a'), silent('E', '100a')]
    const open = decide(forkOf(70), [a, b, heard('C', '200x'), ...away], memory, time)
    assert.equal(open.step, null)
    assert.equal(open.memory.majority, since)
    assert.equal(open.memory.fork, before)
    const left = decide(forkOf(70), [a, b, heard('C', '100a'), ...away], memory, time)
    assert.equal(left.memory.majority, null)
    assert.deepEqual(left.memory.fork, {
      target: link(101, 'b'),
      depth: 70,
      missing: [heard('C', '100a'), ...away],
      isTooDeep: true,
    })
  })

  test('again where half of all signers are known to stand elsewhere', () => {
    const found = decide(forkOf(70), [heard('A', '101b'), silent('B', '100a')], memory, time)
    assert.equal(found.memory.majority, null)
    assert.equal(found.memory.fork?.depth, 70)
  })

  test('as too deep where nothing was found before, though most of all may stand on it', () => {
    const signers = [heard('A', '101b'), heard('B', '101b'), heard('C', '200x')]
    const away = [silent('D', '100a'), silent('E', '100a')]
    const { choice } = decide(forkOf(70), [...signers, ...away], noMemory, time)
    assert.deepEqual([choice.fork?.depth, choice.fork?.isTooDeep], [70, true])
  })
})
