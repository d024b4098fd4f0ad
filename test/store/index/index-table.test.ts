import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { blockSections, type Section } from '../../../src/primitives/collections.ts'
import { pieceBytes } from '../../../src/store/disk/layout.ts'
import {
  chunkAtPosition,
  createEntryList,
  findInEntries,
  findInPages,
  furtherPages,
  heightInSpan,
  maxTableBytes,
  mergeEntries,
  pageLengths,
  type ReadPage,
  readEntries,
  spanPosition,
  splitEntries,
  toPages,
} from '../../../src/store/index/index-table.ts'

interface Entry {
  readonly fingerprint: number
  readonly section: Section
  readonly chunk: number
}

/** Few different fingerprints, at both ends and in the middle, so that many are equal. */
const anyFingerprint = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.constantFrom(0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff),
)
const entry = fc.record<Entry>({
  fingerprint: anyFingerprint,
  section: fc.constantFrom(...blockSections),
  chunk: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constant(0xffff)),
})

function tableOf(height: number, entries: readonly Entry[]): Buffer {
  const list = createEntryList(height, entries.length)
  for (const { fingerprint, section, chunk } of entries) list.add(fingerprint, section, chunk)
  return list.sorted()
}

const reading =
  (pages: readonly Buffer[]): ReadPage =>
  (page) =>
    pages[page]

/** The positions of a fingerprint by a scan of every entry. */
function expectedPlaces(height: number, entries: readonly Entry[], fingerprint: number): number[] {
  const places = entries
    .filter((each) => each.fingerprint === fingerprint)
    .map(({ section, chunk }) => spanPosition(height, section, chunk))
  return [...new Set(places)].sort((a, b) => a - b)
}

describe('an index table', () => {
  it('finds every chunk of every value, and no other, whatever was added', () => {
    const entries = fc.array(entry, { maxLength: 400, size: 'max' })
    fc.assert(
      fc.property(
        entries,
        fc.integer({ min: 0, max: 1e9 }),
        anyFingerprint,
        (list, height, other) => {
          const table = tableOf(height, list)
          const pages = reading(toPages(table))
          for (const fingerprint of [other, ...list.map((each) => each.fingerprint)]) {
            const expected = expectedPlaces(height, list, fingerprint)
            assert.deepEqual(findInEntries(table, fingerprint), expected)
            assert.deepEqual(findInPages(pages, fingerprint), expected)
          }
          assert.deepEqual(readEntries(pages), table)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('decodes a position to its height, section and chunk', () => {
    for (const section of blockSections)
      for (const height of [0, 1, 63])
        for (const chunk of [0, 1, 0xffff]) {
          const place = spanPosition(64 * 1000 + height, section, chunk)
          assert.equal(heightInSpan(place), height)
          assert.deepEqual(chunkAtPosition(place), { section, chunk })
        }
  })

  it('finds a value that fills several pages, and its neighbours', () => {
    const many = Array.from({ length: 2500 }, (_, chunk) => chunk)
    const entries = [
      ...many.map((chunk): Entry => ({ fingerprint: 5000, section: 'Log', chunk })),
      ...many.map((index): Entry => ({ fingerprint: index * 4, section: 'Transaction', chunk: 1 })),
    ]
    const pages = toPages(tableOf(7, entries))
    assert.ok(pages.length > 8)
    assert.ok(pages.every((page) => page.length <= pieceBytes))
    const read = reading(pages)
    for (const fingerprint of [0, 4, 4996, 5000, 5004, 9996, 1, 4999, 0xffffffff]) {
      assert.deepEqual(findInPages(read, fingerprint), expectedPlaces(7, entries, fingerprint))
    }
  })

  it('is read from its pages whole, whose lengths the first and the last of them say', () => {
    const none: ReadPage = () => undefined
    assert.deepEqual(
      [furtherPages(none), pageLengths(none), readEntries(none), findInPages(none, 1)],
      [undefined, [], undefined, []],
    )
    for (const count of [0, 1, 584, 585, 1_168, 1_169, 5_000]) {
      const entries = Array.from({ length: count }, (_, fingerprint): Entry => {
        return { fingerprint, section: 'Log', chunk: 0 }
      })
      const table = tableOf(7, entries)
      const pages = toPages(table)
      assert.deepEqual(
        pageLengths(reading(pages)),
        pages.map(({ length }) => length),
        `${count} entries`,
      )
      assert.equal(furtherPages(reading(pages)), pages.length - 1)
      assert.deepEqual(readEntries(reading(pages)), table, `${count} entries`)
    }
  })

  it('takes no more bytes than is said of so many entries, and those where it has several pages', () => {
    for (const count of [0, 1, 581, 582, 1_162, 1_163, 5_000]) {
      const entries = Array.from({ length: count }, (_, fingerprint): Entry => {
        return { fingerprint, section: 'Log', chunk: 0 }
      })
      const pages = toPages(tableOf(7, entries))
      const bytes = pages.reduce((sum, { length }) => sum + length, 0)
      if (pages.length > 1) assert.equal(bytes, maxTableBytes(count), `${count} entries`)
      else assert.ok(bytes <= maxTableBytes(count), `${count} entries`)
    }
  })

  it('reads two pages for a lookup in a large table', () => {
    const entries = Array.from({ length: 50_000 }, (_, index): Entry => {
      return { fingerprint: Math.imul(index, 0x9e3779b1) >>> 0, section: 'Log', chunk: index % 9 }
    })
    const pages = toPages(tableOf(0, entries))
    let reads = 0
    const found = findInPages((page) => {
      reads++
      return pages[page]
    }, entries[777]?.fingerprint ?? 0)
    assert.equal(found.length, 1)
    assert.equal(reads, 2)
  })

  it('of a span holds thousands of entries that begin alike', () => {
    const entries = Array.from({ length: 1_500 }, (_, fingerprint): Entry => {
      return { fingerprint, section: 'Log', chunk: 0 }
    })
    const tables = [3, 4, 5].map((height) => tableOf(height, entries))
    const merged = mergeEntries(tables)
    const parts = splitEntries(merged)
    for (const [index, table] of tables.entries()) assert.ok(parts.get(3 + index)?.equals(table))
    for (const fingerprint of [0, 1_023, 1_024, 1_499]) {
      const expected = [3, 4, 5].map((height) => spanPosition(height, 'Log', 0))
      assert.deepEqual(findInEntries(merged, fingerprint), expected)
    }
  })

  it('of a span holds what the tables of its blocks held, and can be split again', () => {
    const blocks = fc.uniqueArray(
      fc.record({
        offset: fc.integer({ min: 0, max: 63 }),
        entries: fc.array(entry, { maxLength: 60, size: 'max' }),
      }),
      { selector: (block) => block.offset, maxLength: 64, size: 'max' },
    )
    fc.assert(
      fc.property(blocks, (list) => {
        const tables = list.map(({ offset, entries }) => tableOf(6400 + offset, entries))
        const merged = mergeEntries(tables)
        const pages = reading(toPages(merged))
        for (const { entries } of list) {
          for (const { fingerprint } of entries.slice(0, 5)) {
            const expected = list.flatMap(({ offset, entries: there }) =>
              expectedPlaces(offset, there, fingerprint),
            )
            assert.deepEqual(
              findInPages(pages, fingerprint),
              expected.sort((a, b) => a - b),
            )
          }
        }
        const parts = splitEntries(merged)
        for (const [index, { offset, entries }] of list.entries()) {
          assert.deepEqual(parts.get(offset), entries.length > 0 ? tables[index] : undefined)
        }
      }),
      { numRuns: 60 },
    )
  })
})
