/** What a Host does while no Generator says anything: what they said last still holds, and takes nothing back. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { branch } from './block-world.ts'
import { all, minute, openScene, second } from './scene.ts'

describe('Generators that are all silent', () => {
  const accepted = ['A', 'B']
  const a = branch('a', 0, 300)

  test('are followed up to what they said last, by a Host that is empty then', () => {
    const { host, say, pass } = openScene({ accepted })
    say(accepted, a.at(-1) ?? assert.fail())
    for (const block of a.slice(0, 100)) host.hearBlock(block, accepted)
    pass(10 * minute, [])
    for (const block of a.slice(100)) host.hearBlock(block, accepted)
    assert.equal(host.chain(), all(a))
    assert.deepEqual(host.choice().counted, [])
    assert.equal(host.choice().reached, null)
    assert.equal(host.choice().horizon, 300)
  })

  test('are followed after a restart too, once nobody was heard for 45 seconds', () => {
    const { host, say } = openScene({ accepted })
    say(accepted, a.at(-1) ?? assert.fail())
    host.restart(0)
    for (const block of a) host.hearBlock(block, accepted)
    host.look(45 * second)
    assert.equal(host.chain(), '')
    host.look(45 * second + 1)
    assert.equal(host.chain(), all(a))
  })

  test('take nothing back that is stored', () => {
    const { host, follow, pass } = openScene({ accepted })
    follow(accepted, a.slice(0, 6))
    pass(10 * minute, [])
    const b = branch('b', 5, 9, '4a')
    host.restart(20 * minute)
    for (const block of b) host.hearBlock(block, accepted)
    host.look(30 * minute)
    assert.equal(host.chain(), all(a.slice(0, 6)))
    follow(accepted, b)
    assert.equal(host.chain(), all(a.slice(0, 5), b))
  })

  test('are followed no further than to the block that both share', () => {
    const { host, say, pass } = openScene({ accepted })
    say(['A'], a[9] ?? assert.fail())
    say(['B'], { number: 9, hash: '9b' })
    pass(10 * minute, [])
    for (const block of a.slice(0, 6)) host.hearBlock(block, accepted)
    for (const block of a.slice(6, 10)) host.hearBlock(block, ['A'])
    for (const block of branch('b', 6, 9, '5a')) host.hearBlock(block, ['B'])
    assert.equal(host.tip(), '5a')
  })
})
