/** What a Host signs of the rows of its Views: bytes that are published and may never change. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { createSigner, isValidSignature } from '../../src/identity/signature.ts'
import {
  decodeRowStatement,
  encodeRowStatement,
  type RowStatement,
  rowsDigest,
} from '../../src/row-votes/row-statement.ts'
import { blockRoot, maxLeaves, type ViewLeaf, verifyLeaf } from '../../src/row-votes/view-leaf.ts'
import { oracleRoot } from '../primitives/oracle.ts'
import { anyStatement, leafOf } from './arbitrary-statement.ts'

interface Vector {
  readonly name: string
  readonly views: readonly {
    readonly view: string
    readonly rows: readonly {
      readonly source: number
      readonly values: readonly unknown[]
      readonly bytes: string
    }[]
  }[]
  readonly statement: Omit<RowStatement, 'root'>
  readonly leaves: readonly {
    readonly bytes: string
    readonly index: number
    readonly leaves: number
    readonly path: readonly string[]
  }[]
  readonly root: string
  readonly digest: string
  readonly privateKey: string
  readonly message: string
}

const path = new URL('../fixtures/row-votes/statements.json', import.meta.url)
const fixture = JSON.parse(readFileSync(path, 'utf8')) as { statements: readonly Vector[] }
const statements = fixture.statements.map((vector) => ({
  ...vector,
  statement: { ...vector.statement, root: vector.root },
}))
const fromHex = (hex: string): Buffer => Buffer.from(hex.replace(/^0x/, ''), 'hex')
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const refusal = { code: 'PRIMITIVES_MESSAGE_MALFORMED' }

/** A leaf by the library of IPLD. */
const leafItems = ({ view, rowsRoot, count }: ViewLeaf): unknown[] => [
  fromHex(view),
  fromHex(rowsRoot),
  count,
]

for (const vector of statements) {
  const { statement, root } = vector
  const { network, runtime, blockNumber, blockHash, leaves } = statement
  const { signatureType, signatureIdentity, signatureValue } = statement

  test(`other libraries make rows, leaves and root of the vector ${vector.name}`, () => {
    for (const { view, rows } of vector.views) {
      for (const { source, values, bytes } of rows)
        assert.equal(toHex(encode([source, values])), bytes)
      const leaf = leaves.find((each) => each.view === view)
      const rowsRoot = toHex(oracleRoot(rows.map(({ bytes }) => fromHex(bytes))))
      assert.deepEqual(leaf, { view, rowsRoot, count: rows.length })
    }
    assert.equal(leaves.length, vector.views.length)
    const encoded = leaves.map((leaf) => encode(leafItems(leaf)))
    assert.deepEqual(
      encoded.map(toHex),
      vector.leaves.map(({ bytes }) => bytes),
    )
    assert.deepEqual(encoded.toSorted(Buffer.compare), encoded)
    assert.equal(toHex(oracleRoot(encoded)), root)
    assert.equal(blockRoot(leaves), root)
  })

  test(`paths lead to the root of the vector ${vector.name}`, () => {
    for (const [at, leaf] of leaves.entries()) {
      const { index, leaves: count, path: siblings } = vector.leaves[at] ?? assert.fail()
      assert.ok(verifyLeaf({ leaf, index, leaves: count, path: siblings.map(fromHex) }, root))
    }
  })

  test(`what is signed, the signature and the message are those of the vector ${vector.name}`, () => {
    const tagged = ['viewmesh/rows/1', network, runtime, blockNumber, fromHex(blockHash)]
    const signed = encode([...tagged, fromHex(root)])
    assert.equal(createHash('sha256').update(signed).digest('hex'), vector.digest)
    const digest = rowsDigest({ network, runtime, blockNumber, blockHash, root })
    assert.equal(toHex(digest), vector.digest)
    const signer = createSigner({ type: signatureType, privateKey: fromHex(vector.privateKey) })
    assert.equal(signer.identity, signatureIdentity)
    assert.equal(signer.sign(digest), signatureValue)
    assert.ok(isValidSignature(signatureType, signatureIdentity, digest, signatureValue))
    const block = [1, network, runtime, blockNumber, fromHex(blockHash), leaves.map(leafItems)]
    const signature = [signatureType, fromHex(signatureIdentity), fromHex(signatureValue)]
    assert.equal(toHex(encode([...block, ...signature])), vector.message)
    assert.equal(toHex(encodeRowStatement(statement)), vector.message)
    assert.deepEqual(decodeRowStatement(fromHex(vector.message)), statement)
  })
}

test('the vectors hold both signature types, a View without rows, and rows of two chunks', () => {
  const types = statements.map(({ statement }) => statement.signatureType)
  assert.deepEqual(new Set(types), new Set(['ES256K', 'Ed25519']))
  const counts = statements.flatMap(({ statement }) => statement.leaves.map(({ count }) => count))
  assert.ok(counts.includes(0))
  assert.ok(counts.some((count) => count > 64))
})

test('a signature holds for its own network, runtime, block and leaves alone', () => {
  const [, { statement } = assert.fail()] = statements
  const { signatureType, signatureIdentity, signatureValue, leaves } = statement
  const holds = (changed: Partial<RowStatement>): boolean => {
    const { leaves = statement.leaves } = changed
    const digest = rowsDigest({ ...statement, ...changed, root: blockRoot(leaves) })
    return isValidSignature(signatureType, signatureIdentity, digest, signatureValue)
  }
  const [first = leafOf(0)] = leaves
  assert.ok(holds({}))
  assert.ok(!holds({ network: 'Ethereum__Sepolia' }))
  assert.ok(!holds({ runtime: 2 }))
  assert.ok(!holds({ blockNumber: statement.blockNumber + 1 }))
  assert.ok(!holds({ blockHash: leafOf(0).view }))
  assert.ok(!holds({ leaves: leaves.slice(1) }))
  assert.ok(!holds({ leaves: [{ ...first, count: first.count + 1 }, ...leaves.slice(1)] }))
  assert.ok(!holds({ leaves: [{ ...first, rowsRoot: leafOf(0).rowsRoot }, ...leaves.slice(1)] }))
})

describe('a statement', () => {
  test('of any leaves is read back from its message', () => {
    fc.assert(
      fc.property(anyStatement, (statement) => {
        assert.deepEqual(decodeRowStatement(encodeRowStatement(statement)), statement)
      }),
    )
  })

  test('has at most 1,000 leaves, and with so many it is still read', () => {
    const [{ statement } = assert.fail()] = statements
    const of = (count: number): RowStatement => {
      const leaves = Array.from({ length: count }, (_, index) => ({
        ...leafOf(index),
        count: 2 ** 32 - 1,
      }))
      return { ...statement, network: '\u{10ffff}'.repeat(65), root: blockRoot(leaves), leaves }
    }
    const largest = of(maxLeaves)
    assert.deepEqual(decodeRowStatement(encodeRowStatement(largest)), largest)
    assert.throws(() => decodeRowStatement(encodeRowStatement(of(maxLeaves + 1))), refusal)
  })

  const [a, b] = [leafOf(1), leafOf(2)]
  const refused: [string, Partial<RowStatement>][] = [
    ['no leaf', { leaves: [] }],
    ['the same leaf twice', { leaves: [a, a] }],
    ['one View with two roots', { leaves: [a, { ...a, rowsRoot: b.rowsRoot }] }],
    ['leaves out of order', { leaves: [b, a] }],
    ['a count that no store has', { leaves: [{ ...a, count: 2 ** 32 }] }],
    ['a short View ID', { leaves: [{ ...a, view: '0x12' }] }],
    ['a short rows root', { leaves: [{ ...a, rowsRoot: '12' }] }],
    ['a height that is no Int', { blockNumber: 2 ** 31 }],
    ['a runtime version that is no Int', { runtime: 2 ** 31 }],
    ['a short block hash', { blockHash: '0x12' }],
    ['a long network', { network: 'x'.repeat(131) }],
    ['a key of the other type', { signatureIdentity: 'ab'.repeat(32) }],
    ['no signature', { signatureValue: '' }],
  ]
  for (const [name, changed] of refused) {
    test(`with ${name} is refused`, () => {
      const [{ statement } = assert.fail()] = statements
      const message = encodeRowStatement({ ...statement, ...changed })
      assert.throws(() => decodeRowStatement(message), refusal)
    })
  }
})

test('a leaf that says it has more items than it has is refused', () => {
  for (const { message } of statements) {
    const longer = message.replace('835820', '845820')
    assert.notEqual(longer, message)
    assert.throws(() => decodeRowStatement(fromHex(longer)), refusal)
  }
})

test('any bytes are refused, or exactly the message of what they hold', () => {
  const changed = fc
    .constantFrom(...statements.map(({ message }) => fromHex(message)))
    .chain((message) =>
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
        again = encodeRowStatement(decodeRowStatement(bytes))
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
