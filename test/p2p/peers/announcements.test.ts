import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnnouncements } from '../../../src/p2p/peers/announcements.ts'

test('only connected peers of which a block was verified say how far the network is', () => {
  const book = createAnnouncements(10)
  for (const peer of ['liar', 'honest']) book.connected(peer)
  book.announce('liar', { tail: 0, head: 1_000_000 })
  assert.equal(book.highest(), null)
  book.announce('honest', { tail: 0, head: 10 })
  book.verify('honest')
  assert.equal(book.highest(), 10)
  book.disconnected('honest')
  assert.equal(book.highest(), null)
  book.connected('honest')
  book.announce('honest', { tail: 0, head: 12 })
  assert.equal(book.highest(), 12)
  book.distrust('honest')
  book.announce('honest', { tail: 0, head: 13 })
  assert.equal(book.highest(), null)
})

test("a block from a peer raises its head, and the peer's own word replaces everything", () => {
  const book = createAnnouncements(10)
  book.connected('p')
  assert(book.raise('p', 7))
  assert(!book.raise('p', 7))
  assert(book.raise('p', 9))
  assert.deepEqual(book.of('p'), { tail: 7, head: 9 })
  assert.equal(book.lastAnnouncement('p'), null)
  assert(book.announce('p', { tail: 2, head: 8 }))
  assert(!book.announce('p', { tail: 2, head: 8 }))
  assert.deepEqual(book.of('p'), { tail: 2, head: 8 })
  assert(book.raise('p', 30))
  assert.deepEqual(book.lastAnnouncement('p'), { tail: 2, head: 8 })
  assert(book.announce('p', null))
  assert.deepEqual([book.of('p'), book.lastAnnouncement('p')], [null, null])
})

test('what a peer says that has left by now is not kept', () => {
  const book = createAnnouncements(10)
  book.connected('p')
  book.disconnected('p')
  assert(!book.announce('p', { tail: 0, head: 1 }))
  assert.deepEqual([book.of('p'), book.lastAnnouncement('p')], [null, null])
})

test('the list of verified peers that have left is bounded; connected ones are never forgotten', () => {
  const book = createAnnouncements(2)
  book.connected('here')
  for (const peer of ['here', 'a', 'b', 'c']) book.verify(peer)
  assert.deepEqual(['here', 'a', 'b', 'c'].map(book.isVerified), [true, false, true, true])
})
