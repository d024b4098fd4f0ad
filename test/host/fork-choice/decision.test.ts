/** What a Host serves while Generators, clocks and liars do what they do: one case a name. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decide } from '../../../src/host/fork-choice/decision.ts'
import { branch, createBlockWorld } from './block-world.ts'
import { all, minute, openScene, second } from './scene.ts'

describe('a sole Generator', () => {
  test('an empty Host follows it at once', () => {
    const { host, follow } = openScene({ accepted: ['A'] })
    const a = branch('a', 0, 3)
    follow(['A'], a)
    assert.equal(host.chain(), all(a))
  })

  test('a Host a window behind stores what it sealed from below, while its head is out of reach', () => {
    const { host, say } = openScene({ accepted: ['A'] })
    const a = branch('a', 0, 1_000)
    say(['A'], a.at(-1) ?? assert.fail())
    for (const block of a.slice(0, 500)) host.hearBlock(block, ['A'])
    assert.equal(host.tip(), '499a')
    for (const block of a.slice(500)) host.hearBlock(block, ['A'])
    assert.equal(host.tip(), '1000a')
  })

  test('that lost its store and begins 100 behind takes nothing back', () => {
    const { host, follow } = openScene({ accepted: ['A'] })
    const a = branch('a', 0, 200)
    follow(['A'], a)
    follow(['A'], a.slice(100, 110), 200)
    assert.equal(host.tip(), '200a')
    assert.equal(host.removed(), 0)
  })

  for (const depth of [1, 3]) {
    test(`a reorganisation of ${depth} is followed at once, also to a shorter chain`, () => {
      const { host, follow } = openScene({ accepted: ['A'] })
      const a = branch('a', 0, 20)
      const b = branch('b', 21 - depth, 20 - depth + Math.max(1, depth - 1), `${20 - depth}a`)
      follow(['A'], a)
      follow(['A'], b)
      assert.equal(host.chain(), all(a.slice(0, 21 - depth), b))
      assert.equal(host.removed(), depth)
    })
  }

  test('a reorganisation of 70 is followed once it has lasted for a minute, 64 blocks at a time', () => {
    const { host, follow, pass } = openScene({ accepted: ['A'] })
    const a = branch('a', 0, 100)
    const b = branch('b', 31, 101, '30a')
    follow(['A'], a)
    follow(['A'], b)
    pass(45 * second)
    assert.equal(host.tip(), '100a')
    const { fork } = host.choice()
    assert.deepEqual([fork?.depth, fork?.isTooDeep, fork?.missing], [70, false, []])
    pass(30 * second)
    assert.equal(host.chain(), all(a.slice(0, 31), b))
    assert.equal(host.removed(), 70)
    assert.equal(host.choice().fork, null)
  })

  test('of a deeper reorganisation the highest 64 stored blocks go first', () => {
    const world = createBlockWorld()
    for (const block of branch('a', 0, 100)) world.store(block)
    for (const block of branch('b', 31, 101, '30a')) {
      world.add(block)
      world.seal(block, 'A')
    }
    const head = { number: 101, hash: '101b', nodeHeight: 101 }
    const tip = world.find('101b') ?? assert.fail()
    const since = { branch: '31b', tip, sinceMs: 0 }
    const memory = { canonical: since, majority: since, replaced: [], fork: null }
    const time = { nowMs: minute, startedMs: 0 }
    const { step } = decide(world, [{ identity: 'A', head, heardMs: minute }], memory, time)
    assert.deepEqual(step, { kind: 'shrink', conflict: { from: 37, to: 100, depth: 64 } })
  })

  test('that is silent is followed no further, and nothing of it is taken back', () => {
    const { host, follow, pass } = openScene({ accepted: ['A'] })
    const a = branch('a', 0, 6)
    follow(['A'], a.slice(0, 5))
    pass(10 * minute, [])
    for (const block of a.slice(5)) host.hearBlock(block, ['A'])
    assert.equal(host.tip(), '4a')
  })
})

describe('two Generators', () => {
  const accepted = ['A', 'B']

  test('a block apart: the Host is where both are', () => {
    const { host, follow } = openScene({ accepted })
    const a = branch('a', 0, 5)
    follow(['A', 'B'], a.slice(0, 5))
    follow(['A'], a.slice(5))
    assert.equal(host.tip(), '4a')
    follow(['B'], a.slice(5))
    assert.equal(host.tip(), '5a')
  })

  test('on short forks for seconds: no block is ever taken back', () => {
    const { host, follow, pass } = openScene({ accepted })
    let trunk = branch('t', 0, 3)
    follow(accepted, trunk)
    for (let round = 0; round < 20; round++) {
      const parent = trunk.at(-1) ?? assert.fail()
      const fork = branch(`f${round}`, parent.number + 1, parent.number + 2, parent.hash)
      const own = branch(`g${round}`, parent.number + 1, parent.number + 2, parent.hash)
      follow(['A'], fork.slice(0, 1))
      follow(['B'], own)
      pass(3 * second)
      assert.equal(host.tip(), parent.hash)
      follow(['A'], own)
      trunk = own
      assert.equal(host.tip(), own.at(-1)?.hash)
    }
    assert.equal(host.removed(), 0)
  })

  test('one down: the other is followed after 45 seconds', () => {
    const { host, follow, pass } = openScene({ accepted })
    const a = branch('a', 0, 9)
    follow(accepted, a.slice(0, 5))
    pass(2 * minute)
    follow(['A'], a.slice(5))
    pass(40 * second, ['A'])
    assert.equal(host.tip(), '4a')
    pass(10 * second, ['A'])
    assert.equal(host.tip(), '9a')
  })

  test('a second one that back-fills from 0 changes nothing', () => {
    const { host, follow, say } = openScene({ accepted, rootBelow: 900 })
    const a = branch('a', 900, 1_000)
    follow(['A'], a)
    say(['B'], { number: 10, hash: '10a' }, 1_000)
    host.look(minute)
    host.hearHead({ identity: 'A', number: 1_000, hash: '1000a', nodeHeight: 1_000, sequence: 1e6 })
    assert.equal(host.chain(), all(a))
    const low = branch('a', 836, 899)
    for (const block of low) host.hearBlock(block, ['B'])
    assert.equal(host.chain(), all(low, a))
    assert.equal(host.removed(), 0)
  })

  test('equal halves for an hour: the Host rests at the block they share', () => {
    const { host, follow, pass } = openScene({ accepted })
    const a = branch('a', 0, 300)
    const b = branch('b', 6, 300, '5a')
    follow(accepted, a.slice(0, 6))
    for (let height = 6; height <= 300; height++) {
      follow(['A'], a.slice(height, height + 1))
      follow(['B'], b.slice(height - 6, height - 5))
      pass(12 * second)
    }
    assert.equal(host.tip(), '5a')
    follow(['B'], a.slice(6))
    assert.equal(host.tip(), '300a')
    assert.equal(host.removed(), 0)
  })
})

describe('a liar among three', () => {
  const accepted = ['A', 'B', 'L']
  const honest = ['A', 'B']

  for (const length of [2, 1_000]) {
    test(`extends by ${length}: it is not heard`, () => {
      const { host, follow, pass } = openScene({ accepted })
      const a = branch('a', 0, 10)
      follow(accepted, a.slice(0, 6))
      follow(['L'], branch('x', 6, 5 + length, '5a'))
      pass(2 * minute)
      assert.equal(host.tip(), '5a')
      follow(honest, a.slice(6))
      assert.equal(host.tip(), '10a')
      assert.equal(host.removed(), 0)
      assert.equal(host.choice().reached, 10)
    })
  }

  test('alternates between both sides of a fork: it cannot make the Host swap back and forth', () => {
    const { host, follow, pass } = openScene({ accepted })
    const a = branch('a', 0, 8)
    const b = branch('b', 6, 8, '5a')
    follow(accepted, a.slice(0, 6))
    for (let round = 0; round < 50; round++) {
      follow(['A'], a.slice(6))
      follow(['B'], b)
      follow(['L'], round % 2 === 0 ? a : b)
      pass(2 * second)
    }
    assert.ok(host.removed() <= 3, `${host.removed()} blocks were taken back`)
  })

  test('withholds what it says it stands on: the others go on', () => {
    const { host, follow, say, pass } = openScene({ accepted })
    const a = branch('a', 0, 30)
    follow(accepted, a.slice(0, 6))
    for (let height = 6; height <= 30; height++) {
      say(['L'], { number: height + 5, hash: `withheld ${height}` })
      follow(honest, a.slice(height, height + 1))
      pass(second)
    }
    assert.equal(host.tip(), '30a')
  })

  test('is alone with a deep fork while the others are silent: it replaces 64 blocks an hour', () => {
    const { host, follow, pass } = openScene({ accepted })
    const a = branch('a', 0, 200)
    follow(accepted, a)
    pass(2 * minute)
    follow(['L'], branch('x', 150, 201, '149a'))
    pass(2 * minute, ['L'])
    assert.equal(host.tip(), '201x')
    assert.equal(host.removed(), 51)
    follow(['L'], branch('y', 140, 260, '139a'))
    pass(50 * minute, ['L'])
    assert.equal(host.removed(), 51)
    assert.deepEqual(
      host.choice().fork?.missing.map(({ identity }) => identity),
      ['A', 'B'],
    )
    follow(honest, a.slice(140))
    pass(2 * minute)
    assert.equal(host.tip(), '200a')
  })
})

describe('three Generators', () => {
  const accepted = ['A', 'B', 'C']

  test('a reorganisation of 3 is followed once it has stayed for five seconds', () => {
    const { host, follow, pass } = openScene({ accepted })
    const a = branch('a', 0, 10)
    const b = branch('b', 8, 11, '7a')
    follow(accepted, a)
    follow(accepted, b)
    pass(4 * second)
    assert.equal(host.tip(), '10a')
    pass(second)
    assert.equal(host.tip(), '11b')
    assert.equal(host.removed(), 3)
  })

  test('a reorganisation that is undone within five seconds takes nothing back', () => {
    const { host, follow, pass } = openScene({ accepted })
    const a = branch('a', 0, 10)
    follow(accepted, a)
    follow(accepted, branch('b', 8, 11, '7a'))
    pass(4 * second)
    follow(accepted, a.slice(-1))
    pass(minute)
    assert.equal(host.tip(), '10a')
    assert.equal(host.removed(), 0)
  })

  test('a reorganisation of 70 is followed a minute after two of them stand on it', () => {
    const { host, follow, pass } = openScene({ accepted })
    follow(accepted, branch('a', 0, 100))
    const b = branch('b', 31, 101, '30a')
    follow(['A', 'B'], b)
    pass(45 * second)
    assert.equal(host.tip(), '100a')
    pass(30 * second)
    assert.equal(host.tip(), '101b')
  })

  test('the order in which heads come says nothing: old heads sent again change nothing', () => {
    const { host, follow } = openScene({ accepted })
    const a = branch('a', 0, 10)
    const old = branch('b', 8, 12, '7a')
    follow(accepted, [...a.slice(0, 8), ...old])
    follow(accepted, a)
    const tip = host.tip()
    for (const identity of accepted)
      host.hearHead({ identity, number: 12, hash: '12b', nodeHeight: 12, sequence: 1 })
    host.look(10 * minute)
    assert.equal(host.tip(), tip)
  })
})

test('a Host that starts again counts nobody by what it knew, and goes on with what comes', () => {
  const { host, follow, pass } = openScene({ accepted: ['A', 'B'] })
  const a = branch('a', 0, 9)
  follow(['A', 'B'], a.slice(0, 5))
  host.restart(10 * minute)
  assert.deepEqual(host.choice().counted, [])
  for (const block of a.slice(5)) host.hearBlock(block, ['A', 'B'])
  assert.equal(host.tip(), '4a')
  follow(['A', 'B'], a.slice(5))
  pass(second)
  assert.equal(host.tip(), '9a')
})
