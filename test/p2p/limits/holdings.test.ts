import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHoldings } from '../../../src/p2p/limits/holdings.ts'
import type { Party } from '../../../src/p2p/limits/party.ts'

const shares = { configured: 5, address: 3, strangers: 4 }
const friend: Party = { key: 'a peer ID', isConfigured: true }
const [a, b]: Party[] = ['10.0.0.1', '10.0.0.2'].map((key) => ({ key, isConfigured: false }))
assert(a !== undefined && b !== undefined)

test('each budget is used up to its last, and not beyond', () => {
  const holdings = createHoldings(shares)
  assert.equal(holdings.take(a, 4), null)
  assert(holdings.take(a, 3) !== null)
  assert.equal(holdings.take(a, 1), null)
  assert.equal(holdings.take(b, 2), null)
  assert(holdings.take(b, 1) !== null)
  assert(holdings.take(friend, 5) !== null)
  assert.equal(holdings.take(friend, 1), null)
  assert.equal(holdings.total(), 9)
})

test('a holding grows as long as there is something, and gives back all of it once', () => {
  const holdings = createHoldings(shares)
  const holding = holdings.open(a)
  assert(holding.add(2))
  assert(!holding.add(2))
  assert(holding.add(1))
  holding.release()
  holding.release()
  assert.equal(holdings.total(), 0)
  assert(holdings.take(b, 3) !== null)
})
