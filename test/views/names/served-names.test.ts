import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type NamedView, servedNames } from '../../../src/views/names/served-names.ts'

const idOf = (start: string): string => `0x${start.padEnd(64, '0')}`
const view = (start: string, registeredAt: number | null, typeName = 'Transfer'): NamedView => ({
  id: idOf(start),
  typeName,
  registeredAt,
})

test('the first registered has the plain name, the others eight digits of their IDs', () => {
  const names = servedNames([view('cc', null), view('bb', 9), view('aa', 9), view('dd', 7)])
  assert.deepEqual(Object.fromEntries(names), {
    [idOf('dd')]: 'Transfer',
    [idOf('aa')]: 'Transfer_aa000000',
    [idOf('bb')]: 'Transfer_bb000000',
    [idOf('cc')]: 'Transfer_cc000000',
  })
})

test('of Views that were registered at once the one with the smallest ID has the plain name', () => {
  const names = servedNames([view('bb', 5), view('aa', 5), view('cc', 5)])
  assert.equal(names.get(idOf('aa')), 'Transfer')
})

test('as many digits are shown as make a name unique', () => {
  const names = servedNames([
    view('11', 1),
    view('abcdef0123', 2),
    view('abcdef0124', 3),
    view('22', 1, 'Transfer_abcdef01'),
  ])
  assert.equal(names.get(idOf('abcdef0123')), 'Transfer_abcdef012')
  assert.equal(names.get(idOf('abcdef0124')), 'Transfer_abcdef0124')
})

test('somebody who registers every name that a View could have leaves it a name nevertheless', () => {
  const id = idOf('ab')
  const squatters = Array.from({ length: 57 }, (_, index) =>
    view(`${100 + index}f`, 1, `Transfer_${id.slice(2, 10 + index)}`),
  )
  const names = servedNames([view('11', 1), ...squatters, view('ab', 2)])
  assert.equal(names.get(id), `Transfer_${id.slice(2)}_ab000000`)
})

test('whoever registers later or with a smaller ID takes no name away', () => {
  const served = servedNames([view('bb', 5)])
  const names = servedNames([view('bb', 5), view('aa', 5), view('cc', 1)], served)
  assert.equal(names.get(idOf('bb')), 'Transfer')
  assert.equal(names.get(idOf('cc')), 'Transfer_cc000000')
})

test('a name is free again once its View is no longer served', () => {
  const served = servedNames([view('aa', 1), view('bb', 2)])
  assert.equal(servedNames([view('cc', 3)], served).get(idOf('cc')), 'Transfer')
})

test('however many Views there are, each has one name, and the order of asking does not matter', () => {
  const digits = fc.constantFrom('a', 'b')
  const ids = fc.array(digits, { minLength: 64, maxLength: 64 }).map((all) => `0x${all.join('')}`)
  const views = fc.uniqueArray(
    fc.record({
      id: ids,
      typeName: fc.constantFrom('V', 'V_aaaaaaaa', 'W'),
      registeredAt: fc.option(fc.nat(3)),
    }),
    { selector: ({ id }) => id, maxLength: 12, size: 'max' },
  )
  fc.assert(
    fc.property(views, (all) => {
      const names = servedNames(all)
      assert.equal(new Set(names.values()).size, all.length)
      assert.deepEqual(servedNames(all.toReversed()), names)
    }),
  )
})
