/** Which of two branches a Host keeps, and when it asks for the blocks in between. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createHeldBlocks, type HeldBlockStore } from '../../../src/host/apply/held-blocks.ts'
import {
  type ChainView,
  type Link,
  maxReorgDepth,
  type Placement,
  placeBlock,
} from '../../../src/host/fork-choice/fork-choice.ts'

interface TestBlock extends Link {
  readonly bytes: number
}

/** Blocks `from`..`to` of branch `name` on top of `parent`. */
function branch(
  name: string,
  from: number,
  to: number,
  parent = 'trunk',
  signers: readonly string[] = ['a'],
): TestBlock[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => {
    const number = from + index
    const parentHash = `${index === 0 ? parent : name}${number - 1}`
    return { number, hash: `${name}${number}`, parentHash, signers, bytes: 1 }
  })
}

interface TestHost {
  readonly held: HeldBlockStore<TestBlock>
  receive(block: TestBlock, mayFloat?: boolean): Placement<TestBlock>['kind'] | 'known'
  place(block: TestBlock): Placement<TestBlock>
  chain(): string[]
  tip(): number
  assertLinked(): void
}

/** Applies placements the way the writer does, to a map. */
function createTestHost(...stored: readonly TestBlock[]): TestHost {
  const chain = new Map(stored.map((block) => [block.number, block]))
  const givenUp = new Set<string>()
  const held = createHeldBlocks<TestBlock>()
  const view: ChainView = {
    at: (height) => chain.get(height),
    wasGivenUp: (hash) => givenUp.has(hash),
  }
  const place = (block: TestBlock, mayFloat = false): Placement<TestBlock> =>
    placeBlock(block, view, held, mayFloat)
  const store = (blocks: readonly TestBlock[]): void => {
    for (const block of blocks) {
      chain.set(block.number, block)
      held.remove(block.hash)
      givenUp.delete(block.hash)
    }
  }
  const drop = (above: number): void => {
    for (const block of [...chain.values()].filter(({ number }) => number > above)) {
      chain.delete(block.number)
      givenUp.add(block.hash)
    }
  }
  const receive: TestHost['receive'] = (block, mayFloat) => {
    if (chain.get(block.number)?.hash === block.hash) return 'known'
    const placement = place(block, mayFloat)
    if (placement.kind === 'replace') drop(placement.above)
    if ('blocks' in placement) store(placement.blocks)
    else held.put(block)
    return placement.kind
  }
  const heights = (): number[] => [...chain.keys()].sort((x, y) => x - y)
  return {
    held,
    receive,
    place,
    chain: () => heights().map((height) => chain.get(height)?.hash ?? ''),
    tip: () => heights().at(-1) ?? -1,
    assertLinked: () => {
      for (const block of chain.values()) {
        const below = chain.get(block.number - 1)
        if (below !== undefined) assert.equal(block.parentHash, below.hash)
      }
    },
  }
}

const one = (blocks: readonly TestBlock[]): TestBlock => {
  const [block] = blocks
  assert.ok(block !== undefined)
  return block
}
const trunk = (to: number): TestBlock[] => branch('trunk', 1, to)

describe('a block that fits', () => {
  test('is stored on top of, below and between what is stored', () => {
    for (const height of [11, 4]) {
      const host = createTestHost(...branch('trunk', 5, 10))
      assert.equal(host.receive(one(branch('trunk', height, height))), 'append')
      host.assertLinked()
    }
    const split = createTestHost(...trunk(10), ...branch('trunk', 12, 20))
    assert.equal(split.receive(one(branch('trunk', 11, 11))), 'append')
    assert.equal(split.chain().length, 20)
  })

  test('takes along the blocks above it that came too early', () => {
    const host = createTestHost(...trunk(10))
    const [next, ...early] = branch('trunk', 11, 14)
    assert.ok(next !== undefined)
    assert.deepEqual(
      early.map((block) => host.receive(block)),
      ['detached', 'detached', 'detached'],
    )
    assert.deepEqual(host.place(next), { kind: 'append', blocks: [next, ...early] })
  })
})

describe('a block that touches nothing stored', () => {
  test('is kept aside: one message cannot move the end of the chain away', () => {
    assert.equal(createTestHost(...trunk(10)).receive(one(branch('far', 5000, 5000))), 'detached')
    assert.equal(createTestHost().receive(one(trunk(1))), 'detached')
  })

  test('is stored where nobody has the blocks between', () => {
    const host = createTestHost(...trunk(10))
    assert.equal(host.receive(one(branch('trunk', 30, 30)), true), 'append')
    assert.equal(createTestHost().receive(one(trunk(1)), true), 'append')
  })
})

describe('a block that does not fit its stored parent', () => {
  test('makes the Host ask for the blocks below it, 64 stored ones at most', () => {
    const host = createTestHost(...trunk(100))
    const placement = host.place(one(branch('fork', 101, 101, 'fork')))
    assert.deepEqual(placement, { kind: 'incomplete', missing: { from: 37, to: 100 } })
  })

  test('replaces what is stored as soon as the common parent is known, in one step', () => {
    const host = createTestHost(...trunk(100))
    const fork = branch('fork', 98, 101, 'trunk')
    assert.deepEqual(
      [3, 2, 1].map((index) => host.receive(fork[index] ?? one(fork))),
      ['incomplete', 'incomplete', 'incomplete'],
    )
    assert.deepEqual(host.place(one(fork)), { kind: 'replace', above: 97, blocks: fork })
    host.receive(one(fork))
    assert.equal(host.chain().at(-1), 'fork101')
    assert.equal(host.held.size(), 0)
    host.assertLinked()
  })

  test('asks for nothing when blocks that came earlier already show its chain', () => {
    const host = createTestHost(...trunk(100))
    const [first, second, third] = branch('fork', 99, 101, 'trunk', ['b'])
    assert.ok(first && second && third)
    assert.deepEqual(
      [first, second, third].map((block) => host.receive(block)),
      ['keep', 'keep', 'replace'],
    )
  })

  test('a reorganisation of 64 blocks is followed, one of 65 is not', () => {
    for (const [common, expected] of [
      [100 - maxReorgDepth, 'replace'],
      [100 - maxReorgDepth - 1, 'too-deep'],
    ] as const) {
      const host = createTestHost(...trunk(100))
      const kinds = branch('fork', common + 1, 101, 'trunk', ['b']).map((block) =>
        host.receive(block),
      )
      assert.equal(kinds.at(-1), expected)
      host.assertLinked()
    }
  })

  test('replaces a lone block below which nobody has anything', () => {
    const host = createTestHost(...branch('trunk', 150, 150))
    assert.deepEqual(
      branch('fork', 150, 151, 'fork', ['b']).map((block) => host.receive(block)),
      ['keep', 'replace'],
    )
  })
})

describe('branches of equal length', () => {
  test('two Generators on two forks: what is stored stays', () => {
    const host = createTestHost(...trunk(99), ...branch('a', 100, 100, 'trunk', ['a']))
    assert.equal(host.receive(one(branch('b', 100, 100, 'trunk', ['b']))), 'keep')
    assert.equal(host.chain().at(-1), 'a100')
  })

  test('one Generator that followed its node to another branch is followed', () => {
    const host = createTestHost(...trunk(99), ...branch('old', 100, 100, 'trunk', ['a']))
    assert.equal(host.receive(one(branch('new', 100, 100, 'trunk', ['a']))), 'replace')
    assert.equal(host.chain().at(-1), 'new100')
  })

  test('a branch that was given up does not come back by being sent again', () => {
    const old = one(branch('old', 100, 100, 'trunk', ['a']))
    const host = createTestHost(...trunk(99), old)
    host.receive(one(branch('new', 100, 100, 'trunk', ['a'])))
    assert.equal(host.receive(old), 'keep')
    assert.equal(host.receive(one(branch('old', 101, 101, 'old', ['a']))), 'replace')
    assert.equal(host.chain().at(-1), 'old101')
  })
})

describe('blocks above a gap', () => {
  test('give way to the chain that reaches them from below', () => {
    const host = createTestHost(...trunk(10), ...branch('stale', 12, 14, 'stale'))
    assert.equal(host.receive(one(branch('trunk', 11, 11))), 'replace')
    assert.equal(host.tip(), 11)
    host.assertLinked()
  })

  test('do not give way to a single block that hangs in the air', () => {
    const host = createTestHost(...branch('trunk', 150, 170))
    assert.equal(host.receive(one(branch('orphan', 149, 149, 'orphan'))), 'keep')
    assert.equal(host.chain().length, 21)
  })
})

describe('held blocks', () => {
  test('are bounded in number and in bytes, the oldest goes first', () => {
    const byNumber = createHeldBlocks<TestBlock>({ maxBlocks: 2, maxBytes: 100 })
    for (const block of trunk(3)) byNumber.put(block)
    assert.equal(byNumber.get('trunk1'), undefined)
    assert.deepEqual(byNumber.childrenOf('trunk0'), [])
    const byBytes = createHeldBlocks<TestBlock>({ maxBlocks: 100, maxBytes: 10 })
    for (const block of trunk(3)) byBytes.put({ ...block, bytes: 5 })
    assert.equal(byBytes.size(), 2)
  })
})

describe('any two Generators on any forks, heard in any order', () => {
  const forks = fc.record({
    common: fc.integer({ min: 70, max: 100 }),
    lengthA: fc.integer({ min: 0, max: 50 }),
    lengthB: fc.integer({ min: 0, max: 50 }),
    order: fc.array(fc.tuple(fc.boolean(), fc.nat(49)), { maxLength: 60 }),
  })

  test('stored neighbours are parent and child at all times, and the longest chain wins in the end', () => {
    fc.assert(
      fc.property(forks, ({ common, lengthA, lengthB, order }) => {
        const base = trunk(common)
        const host = createTestHost(...base)
        const chains = [
          [...base, ...branch('a', common + 1, common + lengthA, 'trunk', ['a'])],
          [...base, ...branch('b', common + 1, common + lengthB, 'trunk', ['b'])],
        ]
        const hear = (chain: readonly TestBlock[], at: number): void => {
          const block = chain[at]
          if (block !== undefined) hearWithPull(host, block, chain)
          host.assertLinked()
        }
        for (const [isB, step] of order) hear(chains[isB ? 1 : 0] ?? [], common + step)
        for (const chain of chains) for (const at of chain.keys()) hear(chain, at)
        assert.equal(host.tip(), common + Math.max(lengthA, lengthB))
      }),
      { numRuns: 300 },
    )
  })
})

/** Receives a block and, where its chain is unknown, the sender's blocks below it. */
function hearWithPull(host: TestHost, block: TestBlock, chain: readonly TestBlock[]): void {
  if (host.receive(block) !== 'incomplete') return
  for (let height = block.number - 1; height > 0; height--) {
    const below = chain.find(({ number }) => number === height)
    if (below === undefined || host.receive(below) !== 'incomplete') return
  }
}
