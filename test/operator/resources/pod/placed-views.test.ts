import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  maxPartBytes,
  maxViewParts,
  placeViews,
  type StoredView,
} from '../../../../operator/resources/pod/placed-views.ts'

const view = (name: string, bytes: number): StoredView => ({
  name,
  bytes: 'A'.repeat((bytes / 3) * 4),
})
const namesIn = ({ parts }: ReturnType<typeof placeViews>): (string[] | null)[] =>
  parts.map((part) => (part === null ? null : Object.keys(part)))
const none = Array.from({ length: maxViewParts - 1 }, () => null)

test('a View stays in the ConfigMap where it is, and the one that it leaves empty stays', () => {
  const current = [{ gone: 'AAAA' }, { kept: 'AAAA' }, null]
  const placed = placeViews(current, [view('fresh', 3), view('kept', 3)])
  assert.deepEqual(namesIn(placed).slice(0, 3), [['fresh'], ['kept'], null])
  assert.deepEqual(namesIn(placeViews(current, [view('kept', 3)])).slice(0, 3), [
    [],
    ['kept'],
    null,
  ])
})

test('a ConfigMap takes Views of 900 kB together, and no byte more', () => {
  const half = maxPartBytes / 2
  assert.deepEqual(namesIn(placeViews([], [view('a', half), view('b', half)])), [
    ['a', 'b'],
    ...none,
  ])
  assert.deepEqual(namesIn(placeViews([], [view('a', half), view('b', half + 3)])).slice(0, 2), [
    ['a'],
    ['b'],
  ])
})

test('what the eight ConfigMaps have no room for is left out, the last ones first', () => {
  const all = Array.from({ length: 17 }, (_, index) => view(`v${index}`, maxPartBytes / 2))
  const { parts, left } = placeViews([], all)
  assert.deepEqual(left, ['v16'])
  assert.equal(
    parts.every((part) => Object.keys(part ?? {}).length === 2),
    true,
  )
})

test('two Views of one ID are one file, which holds the last of them', () => {
  const last = { name: 'a', bytes: 'BBBB' }
  assert.deepEqual(placeViews([], [view('a', 3), last]), {
    parts: [{ a: 'BBBB' }, ...none],
    left: [],
  })
})

test('whatever comes and goes, no View moves and each lies in one place', () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'))
  const size = fc.constantFrom(3, maxPartBytes / 3, maxPartBytes)
  fc.assert(
    fc.property(
      fc.array(names, { maxLength: 6 }),
      fc.array(size, { minLength: 5, maxLength: 5 }),
      (steps, sizes) => {
        let parts: ReturnType<typeof placeViews>['parts'] = []
        for (const wanted of steps) {
          const before = parts
          const views = wanted.map((name) => view(name, sizes[name.charCodeAt(0) - 97] ?? 3))
          const placed = placeViews(before, views)
          parts = placed.parts
          const places = (all: typeof parts, name: string): number[] =>
            all.flatMap((part, index) => (part !== null && name in part ? [index] : []))
          for (const name of wanted) {
            const now = places(parts, name)
            assert.equal(now.length, placed.left.includes(name) ? 0 : 1)
            const [place] = places(before, name)
            if (place !== undefined) assert.deepEqual(now, [place])
          }
          assert.equal(
            parts.some((part) =>
              Object.keys(part ?? {}).some((name) => !wanted.includes(name as 'a')),
            ),
            false,
          )
        }
      },
    ),
  )
})
