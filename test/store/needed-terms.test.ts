import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasNeeded, mapNeeded, type NeededTerms } from '../../src/store/needed-terms.ts'

/** What is needed of letters, and which sets of letters have it. */
interface Needed {
  readonly needed: NeededTerms<string>
  readonly isIn: (letters: string) => boolean
}

const term = fc.constantFrom('a', 'b', 'c', 'd').map((letter): Needed => {
  return { needed: { type: 'term', term: letter }, isIn: (letters) => letters.includes(letter) }
})
const { tree } = fc.letrec<{ tree: Needed }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    term,
    fc.array(tie('tree'), { maxLength: 3 }).map((parts): Needed => {
      const needed = parts.map((part) => part.needed)
      return {
        needed: { type: 'all', parts: needed },
        isIn: (letters) => parts.every(({ isIn }) => isIn(letters)),
      }
    }),
    fc.array(tie('tree'), { maxLength: 3 }).map((parts): Needed => {
      const needed = parts.map((part) => part.needed)
      return {
        needed: { type: 'any', parts: needed },
        isIn: (letters) => parts.some(({ isIn }) => isIn(letters)),
      }
    }),
  ),
}))

test('what is needed is there or not, also as a copy and in another form', () => {
  fc.assert(
    fc.property(tree, fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd') }), (one, letters) => {
      const has = one.isIn(letters)
      const copy = structuredClone(one.needed)
      assert.equal(
        hasNeeded(copy, (letter) => letters.includes(letter)),
        has,
      )
      const codes = mapNeeded(copy, (letter) => letter.charCodeAt(0))
      assert.equal(
        hasNeeded(codes, (code) => letters.includes(String.fromCharCode(code))),
        has,
      )
    }),
  )
})
