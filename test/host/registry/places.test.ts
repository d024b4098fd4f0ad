/** Who gets a place: bounded by number and disk, and never taken away by a lower height. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createCatalogue } from '../../../src/host/registry/catalogue.ts'
import { type Candidate, givePlaces } from '../../../src/host/registry/places.ts'
import {
  createViewFilter,
  viewAllowEntry,
  viewFilterEntry,
} from '../../../src/host/registry/view-filter.ts'
import type { ListedView } from '../../../src/registry/listed-view.ts'

const candidate = (id: string, order: number, rest: Partial<Candidate> = {}): Candidate => ({
  ...{ id, isAllowed: false, isServed: false, order, bytes: 0, fields: 0 },
  ...rest,
})

function placed(candidates: readonly Candidate[], places: number, maxBytes = 100): string {
  return givePlaces(candidates, { places, maxBytes, maxFields: 1_000 })
    .map(({ id }) => id)
    .join('')
}

test('allowed Views come first, then served ones, then the lowest heights', () => {
  const views = [
    candidate('a', 1),
    candidate('b', 2),
    candidate('c', 9, { isServed: true }),
    candidate('d', 99, { isAllowed: true }),
  ]
  assert.equal(placed(views, 4), 'dcab')
  assert.equal(placed(views, 2), 'dc')
  assert.equal(placed(views, 0), '')
})

test('a View that needs too much of the disk leaves its place to the next', () => {
  const views = [
    candidate('a', 1, { bytes: 60 }),
    candidate('b', 2, { bytes: 41 }),
    candidate('c', 3, { bytes: 40 }),
  ]
  assert.equal(placed(views, 3), 'ac')
})

test('as many fields as are allowed are served, and not one more', () => {
  const views = [candidate('a', 1, { fields: 600 }), candidate('b', 2, { fields: 400 })]
  assert.equal(placed(views, 3), 'ab')
  assert.equal(placed([...views, candidate('c', 3, { fields: 1 })], 3), 'ab')
})

test('of Views registered at the same height the lowest ID comes first, on every Host', () => {
  assert.equal(placed([candidate('b', 1), candidate('a', 1)], 1), 'a')
  assert.equal(placed([candidate('a', 1), candidate('b', 1)], 1), 'a')
})

test('a View that grows beyond its share displaces none that keeps to its own', () => {
  const share = 100 / 4
  const served = [0, 1, 2, 3].map((order) =>
    candidate('abcd'[order] ?? '', order, { isServed: true, bytes: share }),
  )
  const grown = served.map((each) => (each.id === 'a' ? { ...each, bytes: 90 } : each))
  assert.equal(placed(served, 4), 'abcd')
  assert.equal(placed(grown, 4), 'bcd')
  fc.assert(
    fc.property(fc.array(fc.nat(100), { maxLength: 4 }), (sizes) => {
      const views = sizes.map((bytes, order) =>
        candidate(String(order), order, { isServed: true, bytes }),
      )
      const given = placed(views, 4)
      for (const { id, bytes } of views) assert.ok(bytes > share || given.includes(id))
    }),
  )
})

test('of Views beyond their shares the first to come stay, whatever height they claim', () => {
  const views = [
    candidate('a', 0, { isServed: true, bytes: 60 }),
    candidate('b', 1, { isServed: true, bytes: 60 }),
    candidate('c', 0, { bytes: 0 }),
  ]
  assert.equal(placed(views, 3), 'ac')
})

test('an allowed View displaces others where its fields do not fit beside theirs', () => {
  const wide = [1, 2, 3].map((order) =>
    candidate(`${order}`, order, { isServed: true, fields: 300 }),
  )
  assert.equal(placed(wide, 9), '123')
  assert.equal(placed([...wide, candidate('x', 9, { fields: 300 })], 9), '123')
  const allowed = candidate('a', 9, { fields: 300, isAllowed: true })
  assert.equal(placed([...wide, allowed], 9), 'a12')
})

test('whatever is registered, served Views keep their places, and no bound is passed', () => {
  const any = fc.record({
    id: fc.uuid(),
    isAllowed: fc.constant(false),
    isServed: fc.boolean(),
    order: fc.nat(),
    bytes: fc.nat(50),
    fields: fc.nat(30),
  })
  fc.assert(
    fc.property(fc.array(any), fc.nat(10), (views, places) => {
      const given = givePlaces(views, { places, maxBytes: 100, maxFields: 60 })
      assert.ok(given.length <= places)
      assert.ok(given.reduce((sum, { bytes }) => sum + bytes, 0) <= 100)
      assert.ok(given.reduce((sum, { fields }) => sum + fields, 0) <= 60)
      const own = givePlaces(
        views.filter(({ isServed }) => isServed),
        { places, maxBytes: 100, maxFields: 60 },
      )
      for (const view of own) assert.ok(given.includes(view))
    }),
  )
})

function listed(id: string, registeredAt: number): ListedView {
  return { id, sender: `0x${'66'.repeat(20)}`, name: 'V', registeredAt }
}

test('thousands of Views by a stranger are not remembered, and push out no better one', () => {
  const catalogue = createCatalogue(({ id }) => (id.startsWith('bad') ? 2 : 1), 100)
  assert.equal(catalogue.add([listed('good', 1_000_000)]), 1)
  for (let from = 0; from < 10_000; from += 100)
    catalogue.add(Array.from({ length: 100 }, (_, index) => listed(`bad${from + index}`, index)))
  assert.ok(catalogue.list().length <= 200)
  assert.ok(catalogue.get('good') !== undefined)
})

test('of equal Views those are remembered that were registered first, whenever they were listed', () => {
  const catalogue = createCatalogue(() => 1, 100)
  const heights = Array.from({ length: 201 }, (_, height) => height)
  catalogue.add(heights.toReversed().map((height) => listed(`at ${height}`, height)))
  assert.deepEqual(
    catalogue.list().map(({ registeredAt }) => registeredAt),
    heights.slice(0, 100),
  )
})

test('lists name Views by either ID, by creator and by name; denied wins, but for *', () => {
  const id = `0x${'AB'.repeat(20)}`
  const sender = `0x${'cd'.repeat(20)}`
  const view = { ids: [id], sender, name: 'Token' }
  const entry = (text: string): string => viewFilterEntry.schema.parse(text)
  const standing = (allow: string[], deny: string[]): string =>
    createViewFilter({ allow: allow.map(entry), deny: deny.map(entry) })(view)
  assert.equal(standing([], []), 'neither')
  for (const name of [id.toLowerCase(), sender.toUpperCase().replace('X', 'x'), 'Token']) {
    assert.equal(standing([name], []), 'allowed')
    assert.equal(standing([name], ['*']), 'allowed')
    assert.equal(standing([id], [name]), 'denied')
  }
  assert.equal(standing([], ['*']), 'denied')
  assert.equal(standing(['token'], []), 'neither')
  for (const wrong of ['', 'a b', '0x12', `0x${'1'.repeat(63)}`])
    assert.ok(!viewFilterEntry.schema.safeParse(wrong).success)
})

test('a creator in Bech32 is the same account, and no name of a type', () => {
  const creator = 'shinzo1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg32xgktr'
  for (const { schema } of [viewFilterEntry, viewAllowEntry])
    assert.equal(schema.parse(creator), `0x${'11'.repeat(20)}`)
})

test('the long ID of a View is accepted to deny it, and not to allow it', () => {
  const long = `0x${'AB'.repeat(32)}`
  assert.equal(viewFilterEntry.schema.parse(long), long.toLowerCase())
  for (const text of [long, `Token_${long}`])
    assert.ok(!viewAllowEntry.schema.safeParse(text).success)
})
