import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRates, type Rates } from '../../../src/p2p/limits/rates.ts'
import type { Remote } from '../../../src/p2p/limits/remote.ts'

const shares = { configured: 100, address: 10, strangers: 25 }
const configured: Remote = { key: 'a peer ID', isConfigured: true }

function stranger(address: string): Remote {
  return { key: address, isConfigured: false }
}

function rates(maxRemotes = 100): { now: { ms: number }; rates: Rates } {
  const now = { ms: 0 }
  return { now, rates: createRates(shares, { maxRemotes }, () => now.ms) }
}

test("four seconds' worth may come at once, after that so much a second", () => {
  const { now, rates: each } = rates()
  assert(each.take(stranger('a'), 40))
  now.ms += 500
  assert(each.take(stranger('a'), 5))
  assert(!each.take(stranger('a'), 1))
})

test('what is refused takes nothing', () => {
  const { rates: each } = rates()
  assert(!each.take(stranger('a'), 41))
  assert(each.take(stranger('a'), 40))
})

test('strangers share what is for all of them; a configured peer has its own', () => {
  const { rates: each } = rates()
  assert(each.take(stranger('a'), 40))
  assert(each.take(stranger('b'), 40))
  assert(each.take(stranger('c'), 20))
  assert(!each.take(stranger('d'), 1))
  assert(each.take(configured, 400))
})

test('what is owed is there after the time it says, and not taken where that is too long', () => {
  const { now, rates: each } = rates()
  assert.equal(each.owe(stranger('a'), 40), 0)
  assert.equal(each.owe(stranger('a'), 1), 100)
  assert.equal(each.owe(stranger('a'), 4), 500)
  assert.equal(each.owe(stranger('a'), 5, 999), null)
  assert.equal(each.owe(stranger('a'), 5, 1000), 1000)
  now.ms += 1000
  assert(!each.take(stranger('a'), 1))
  now.ms += 100
  assert(each.take(stranger('a'), 1))
})

test('an unlimited budget never ends', () => {
  const endless = createRates(
    { ...shares, configured: Number.POSITIVE_INFINITY },
    { maxRemotes: 9 },
    () => 7,
  )
  for (let take = 0; take < 3; take += 1) {
    assert.equal(endless.owe(configured, 2 ** 50), 0)
    assert(endless.take(configured, 2 ** 50))
  }
})

test('remotes seen longest ago are forgotten', () => {
  const { rates: each } = rates(2)
  assert(each.take(stranger('a'), 40))
  assert(each.take(configured, 400))
  assert(each.take({ key: 'another peer ID', isConfigured: true }, 400))
  assert(!each.take(configured, 1))
  assert(each.take(stranger('a'), 40))
})
