import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBudget } from '../../../src/p2p/limits/budget.ts'
import type { Remote } from '../../../src/p2p/limits/remote.ts'

const shares = { configured: 5, address: 3, strangers: 4 }
const friend: Remote = { key: 'a peer ID', isConfigured: true }
const [a, b]: Remote[] = ['10.0.0.1', '10.0.0.2'].map((key) => ({ key, isConfigured: false }))
assert(a !== undefined && b !== undefined)

test('each budget is used up to its last, and not beyond', () => {
  const holdings = createBudget(shares)
  assert.equal(holdings.reserve(a, 4), null)
  assert(holdings.reserve(a, 3) !== null)
  assert.equal(holdings.reserve(a, 1), null)
  assert.equal(holdings.reserve(b, 2), null)
  assert(holdings.reserve(b, 1) !== null)
  for (const amount of [1, 4]) assert(holdings.reserve(friend, amount) !== null)
  assert.equal(holdings.reserve(friend, 1), null)
  assert.equal(holdings.total(), 9)
})

test('a reservation grows as long as there is something, and gives back all of it once', () => {
  const holdings = createBudget(shares)
  const reservation = holdings.open(a)
  assert(reservation.add(2))
  assert(!reservation.add(2))
  assert(reservation.add(1))
  reservation.release()
  reservation.release()
  assert.equal(holdings.total(), 0)
  assert(holdings.reserve(b, 3) !== null)
})
