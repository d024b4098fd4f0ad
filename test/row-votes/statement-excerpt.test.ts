/** What applications keep of the statements of Hosts: bytes that are published and may never change. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { isValidSignature } from '../../src/identity/signature.ts'
import {
  decodeRowStatement,
  encodeRowStatement,
  type RowStatement,
  rowsDigest,
} from '../../src/row-votes/row-statement.ts'
import {
  decodeStatementExcerpt,
  encodeStatementExcerpt,
  excerptOf,
  maxExcerptBytes,
  maxExcerptLeaves,
  mergeExcerpts,
  type StatementExcerpt,
} from '../../src/row-votes/statement-excerpt.ts'
import { blockRoot, type LeafProof, maxLeaves } from '../../src/row-votes/view-leaf.ts'
import { anyStatement, leafOf } from './arbitrary-statement.ts'

interface Vector {
  readonly name: string
  readonly statement: Omit<RowStatement, 'root'>
  readonly leaves: readonly { readonly path: readonly string[] }[]
  readonly root: string
  readonly digest: string
  readonly excerpts: readonly { readonly views: readonly string[]; readonly message: string }[]
}

const path = new URL('../fixtures/row-votes/statements.json', import.meta.url)
const vectors = (JSON.parse(readFileSync(path, 'utf8')) as { statements: readonly Vector[] })
  .statements
const fromHex = (hex: string): Buffer => Buffer.from(hex.replace(/^0x/, ''), 'hex')
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const refusal = { code: 'PRIMITIVES_MESSAGE_MALFORMED' }

for (const { name, statement, leaves, root, digest, excerpts } of vectors) {
  test(`another library makes the excerpts of the vector ${name}, with its signature`, () => {
    assert.equal(excerpts.length, leaves.length)
    for (const { views, message } of excerpts) {
      const proofs = statement.leaves.flatMap(({ view, rowsRoot, count }, index) => {
        if (!views.includes(view)) return []
        const siblings = leaves[index]?.path.map(fromHex)
        return [[[fromHex(view), fromHex(rowsRoot), count], index, leaves.length, siblings]]
      })
      const { network, runtime, blockNumber, blockHash, signatureType } = statement
      const block = [2, network, runtime, blockNumber, fromHex(blockHash), fromHex(root), proofs]
      const signature = [fromHex(statement.signatureIdentity), fromHex(statement.signatureValue)]
      assert.equal(toHex(encode([...block, signatureType, ...signature])), message)

      const excerpt = excerptOf({ ...statement, root }, new Set(views))
      assert.deepEqual(decodeStatementExcerpt(fromHex(message)), excerpt)
      assert.ok(excerpt !== null)
      assert.deepEqual(new Set(excerpt.leaves.map(({ view }) => view)), new Set(views))
      const { signatureIdentity, signatureValue } = excerpt
      assert.equal(toHex(rowsDigest(excerpt)), digest)
      assert.ok(
        isValidSignature(signatureType, signatureIdentity, rowsDigest(excerpt), signatureValue),
      )
    }
  })
}

/** A statement with the leaves of these numbers. */
function statementOf(...numbers: readonly number[]): RowStatement {
  const [{ statement } = assert.fail()] = vectors
  const leaves = numbers.map(leafOf)
  return { ...statement, leaves, root: blockRoot(leaves) }
}

function excerptWith(statement: RowStatement, ...numbers: readonly number[]): StatementExcerpt {
  const views = numbers.map((number) => leafOf(number).view)
  return excerptOf(statement, new Set(views)) ?? assert.fail()
}

/** A statement, and some of its Views. */
const anyPart = anyStatement.chain((statement) =>
  fc
    .subarray([...statement.leaves.keys()], { minLength: 1 })
    .map((indexes) => ({ statement, views: viewsAt(statement, indexes) })),
)

function viewsAt({ leaves }: RowStatement, indexes: readonly number[]): Set<string> {
  return new Set(indexes.map((index) => leaves[index]?.view ?? assert.fail()))
}

describe('an excerpt', () => {
  test('of any Views of any statement is read back from its message', () => {
    fc.assert(
      fc.property(anyPart, ({ statement, views }) => {
        const excerpt = excerptOf(statement, views) ?? assert.fail()
        const kept = statement.leaves.filter(({ view }) => views.has(view))
        assert.deepEqual(excerpt.leaves, kept)
        assert.deepEqual(decodeStatementExcerpt(encodeStatementExcerpt(excerpt)), excerpt)
        assert.deepEqual(rowsDigest(excerpt), rowsDigest(statement))
      }),
    )
  })

  test('of no View of the statement is none, and other Views are not in it', () => {
    const statement = statementOf(1, 2, 3)
    assert.equal(excerptOf(statement, new Set()), null)
    assert.equal(excerptOf(statement, new Set([leafOf(9).view])), null)
    assert.deepEqual(excerptWith(statement, 2, 9).leaves, [leafOf(2)])
  })

  test('is no statement to those who read statements, nor the other way round', () => {
    const statement = statementOf(1, 2)
    const excerpt = excerptWith(statement, 1)
    assert.throws(() => decodeRowStatement(encodeStatementExcerpt(excerpt)), refusal)
    assert.throws(() => decodeStatementExcerpt(encodeRowStatement(statement)), refusal)
  })

  test('has at most 64 leaves of at most 1,000, and with so many it is still read', () => {
    const numbers = Array.from({ length: maxLeaves }, (_, index) => index)
    const leaves = numbers.map((number) => ({ ...leafOf(number), count: 2 ** 32 - 1 }))
    const network = '\u{10ffff}'.repeat(65)
    const signatureValue = 'ab'.repeat(80)
    const [{ statement } = assert.fail()] = vectors
    const root = blockRoot(leaves)
    const largest = excerptWith(
      { ...statement, network, signatureValue, leaves, root },
      ...numbers.slice(0, maxExcerptLeaves),
    )
    const message = encodeStatementExcerpt(largest)
    assert.ok(message.length <= maxExcerptBytes)
    assert.deepEqual(decodeStatementExcerpt(message), largest)
    const last = excerptWith({ ...statement, leaves, root }, maxLeaves - 1)
    assert.deepEqual(decodeStatementExcerpt(encodeStatementExcerpt(last)), last)
    const few = statementOf(...numbers.slice(0, maxExcerptLeaves + 1))
    const first = excerptWith(few, ...numbers.slice(0, maxExcerptLeaves))
    const further = excerptWith(few, maxExcerptLeaves)
    const more = { ...first, proofs: [...first.proofs, ...further.proofs] }
    assert.throws(() => decodeStatementExcerpt(encodeStatementExcerpt(more)), refusal)
    const many = [...leaves, leafOf(maxLeaves)]
    const beyond = excerptWith({ ...statement, leaves: many, root: blockRoot(many) }, 1)
    assert.throws(() => decodeStatementExcerpt(encodeStatementExcerpt(beyond)), refusal)
  })

  const excerpt = excerptWith(statementOf(1, 2, 3, 4, 5), 2, 4)
  const [a = assert.fail(), b = assert.fail()] = excerpt.proofs
  const [sibling = assert.fail(), ...siblings] = a.path
  const changed = (change: Partial<LeafProof>): Partial<StatementExcerpt> => ({
    proofs: [{ ...a, ...change }, b],
  })
  const refused: [string, Partial<StatementExcerpt>][] = [
    ['no leaf', { proofs: [] }],
    ['the same leaf twice', { proofs: [a, a] }],
    ['leaves out of order', { proofs: [b, a] }],
    ['another root', { root: leafOf(7).rowsRoot }],
    ['a short root', { root: '12' }],
    ['another count of rows', changed({ leaf: { ...a.leaf, count: 7 } })],
    ['other rows', changed({ leaf: { ...a.leaf, rowsRoot: leafOf(7).rowsRoot } })],
    ['another View', changed({ leaf: { ...a.leaf, view: leafOf(0).view } })],
    ['another place', changed({ index: a.index + 1 })],
    ['a place behind the last', changed({ index: 5 })],
    ['fewer leaves than it has', changed({ leaves: 1 })],
    ['no leaves in the tree', changed({ leaves: 0 })],
    ['a shorter path', changed({ path: siblings })],
    ['a longer path', changed({ path: [...a.path, sibling] })],
    ['another path', changed({ path: [leafBytes(7), ...siblings] })],
    ['a path beyond any tree', changed({ path: new Array<Uint8Array>(11).fill(sibling) })],
    ['a short sibling', changed({ path: [sibling.subarray(1), ...siblings] })],
    ['a height that is no Int', { blockNumber: 2 ** 31 }],
    ['a runtime version that is no Int', { runtime: 2 ** 31 }],
    ['a short block hash', { blockHash: '0x12' }],
    ['a long network', { network: 'x'.repeat(131) }],
    ['a key of the other type', { signatureIdentity: 'ab'.repeat(32) }],
    ['no signature', { signatureValue: '' }],
  ]
  for (const [name, change] of refused) {
    test(`with ${name} is refused`, () => {
      const message = encodeStatementExcerpt({ ...excerpt, ...change })
      assert.throws(() => decodeStatementExcerpt(message), refusal)
    })
  }

  function leafBytes(number: number): Uint8Array {
    return fromHex(leafOf(number).rowsRoot)
  }
})

describe('two excerpts of one statement', () => {
  test('are merged to that of the Views of both, whichever comes first', () => {
    const anyTwo = anyPart.chain(({ statement, views }) =>
      fc
        .subarray([...statement.leaves.keys()], { minLength: 1 })
        .map((indexes) => ({ statement, one: views, other: viewsAt(statement, indexes) })),
    )
    fc.assert(
      fc.property(anyTwo, ({ statement, one, other }) => {
        const [a, b] = [one, other].map((views) => excerptOf(statement, views) ?? assert.fail())
        assert.ok(a !== undefined && b !== undefined)
        const both = excerptOf(statement, new Set([...one, ...other]))
        assert.deepEqual(mergeExcerpts(a, b), both)
        assert.deepEqual(mergeExcerpts(b, a), both)
      }),
    )
  })

  test('of more than 64 Views keep all of the second', () => {
    const numbers = Array.from({ length: 80 }, (_, index) => index)
    const statement = statementOf(...numbers)
    const first = excerptWith(statement, ...numbers.slice(0, maxExcerptLeaves))
    const second = excerptWith(statement, ...numbers.slice(maxExcerptLeaves))
    const merged = mergeExcerpts(first, second)
    const kept = [...numbers.slice(0, 48), ...numbers.slice(64)].map(leafOf)
    assert.deepEqual(merged.leaves, kept)
    assert.deepEqual(decodeStatementExcerpt(encodeStatementExcerpt(merged)), merged)
  })

  test('are merged although one names another number of leaves, which nobody signed', () => {
    const statement = statementOf(1, 2, 3)
    const excerpt = excerptWith(statement, 1)
    const [proof = assert.fail()] = excerpt.proofs
    const altered = { ...excerpt, proofs: [{ ...proof, leaves: 4 }] }
    assert.deepEqual(decodeStatementExcerpt(encodeStatementExcerpt(altered)), altered)
    const merged = mergeExcerpts(altered, excerptWith(statement, 2, 3))
    assert.deepEqual(merged.leaves, statement.leaves)
    assert.deepEqual(decodeStatementExcerpt(encodeStatementExcerpt(merged)), merged)
  })
})

test('any bytes are refused, or exactly the message of the excerpt that they hold', () => {
  const messages = vectors.flatMap(({ excerpts }) => excerpts.map(({ message }) => message))
  const changed = fc.constantFrom(...messages.map(fromHex)).chain((message) =>
    fc.oneof(
      fc.nat(8 * message.length - 1).map((bit) => flipped(message, bit)),
      fc.nat(message.length - 1).map((length) => message.subarray(0, length)),
      fc.uint8Array({ minLength: 1, maxLength: 4 }).map((tail) => Buffer.concat([message, tail])),
      fc.uint8Array({ maxLength: 300, size: 'max' }),
    ),
  )
  fc.assert(
    fc.property(changed, (bytes) => {
      let again: Uint8Array
      try {
        again = encodeStatementExcerpt(decodeStatementExcerpt(bytes))
      } catch (error) {
        assert.equal((error as { code?: unknown }).code, refusal.code)
        return
      }
      assert.deepEqual(Buffer.from(again), Buffer.from(bytes))
    }),
    { numRuns: 2000 },
  )
})

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return copy
}
