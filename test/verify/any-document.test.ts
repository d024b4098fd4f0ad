import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { collections, storedFields } from '../../src/primitives/collections.ts'
import { toDocuments } from '../../src/primitives/documents.ts'
import { sealDigest as primitivesDigest } from '../../src/primitives/seal.ts'
import { encodeValues, canonicalBytes as primitivesBytes } from '../../src/primitives/values.ts'
import { answeredBytes } from '../../src/verify/canonical-bytes.ts'
import { type Proof, readProof } from '../../src/verify/proof.ts'
import { proofDigest } from '../../src/verify/signers.ts'
import { verifyAnswer, verifyDocument } from '../../src/verify/verify.ts'
import { answeredBlock } from '../primitives/arbitrary-block.ts'
import {
  type Answered,
  alice,
  answeredDocuments,
  outcomeOf,
  sealableBlock,
} from '../support/chain/answered-documents.ts'

const byAlice = { identities: [alice.identity] }
const network = 'Ethereum__Mainnet'

const documents = answeredBlock.map(({ block, receipts }) => toDocuments(network, block, receipts))
const answered = documents.map((made) => answeredDocuments(sealableBlock(made), [alice]))
const anyDocument = answered.chain((all) => fc.constantFrom(...all))

test('any document of any block is proven, with all its fields', () => {
  const property = fc.property(answered, (all) => {
    for (const document of all) {
      const verdict = verifyDocument(document, byAlice)
      assert.equal(outcomeOf(verdict), 'document')
      const { _docID, _proof, ...fields } = document
      assert.deepEqual(verdict.proves === 'document' && verdict.fields, Object.keys(fields))
    }
  })
  fc.assert(property, { numRuns: 40 })
})

test('the canonical bytes are those that Generators make', () => {
  const property = fc.property(documents, (made) => {
    for (const { collection, docID, values } of sealableBlock(made).documents) {
      const fields = storedFields(collection).map(({ name }, at) => [name, values[at]])
      assert.deepEqual(answeredBytes(network, collection, docID, Object.fromEntries(fields)), {
        bytes: Uint8Array.from(
          primitivesBytes(network, collection, docID, encodeValues(collection, values)),
        ),
      })
    }
  })
  fc.assert(property, { numRuns: 40 })
})

test('what is signed is what Generators sign', () => {
  const property = fc.property(anyDocument, ({ _proof }) => {
    const proof = readProof(_proof) as Proof
    const { block, root, count } = proof
    const statement = {
      ...{ network, blockNumber: block.number, blockHash: block.hash },
      ...{ merkleRoot: root, cidCount: count },
    }
    assert.deepEqual(proofDigest(proof), Uint8Array.from(primitivesDigest(statement)))
  })
  fc.assert(property, { numRuns: 40 })
})

type Path = readonly (string | number)[]

/** Every part of a value, the value itself first. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const parts = Object.entries(value).flatMap(([key, part]) => pathsOf(part, [...path, key]))
  return [path, ...parts]
}

function partAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], value)
}

function withPart(value: unknown, [key, ...rest]: Path, part: unknown): unknown {
  if (key === undefined) return part
  const copy = structuredClone(value) as Record<string, unknown>
  copy[key] = withPart(copy[key], rest, part)
  return copy
}

/** Something near a value: another digit, number or length, or anything at all. */
function near(value: unknown): fc.Arbitrary<unknown> {
  const anything = fc.jsonValue({ maxDepth: 2 })
  if (typeof value === 'number') return fc.oneof(fc.constantFrom(value + 1, value - 1), anything)
  if (typeof value === 'boolean') return fc.oneof(fc.constant(!value), anything)
  if (Array.isArray(value)) return fc.oneof(nearLists(value), anything)
  if (typeof value !== 'string' || value === '') return anything
  const changed = fc
    .tuple(fc.nat(value.length - 1), fc.constantFrom(...'0123456789abcdefABCDEFx'))
    .map(([at, digit]) => value.slice(0, at) + digit + value.slice(at + 1))
  return fc.oneof({ weight: 3, arbitrary: changed }, fc.constant(value.slice(1)), anything)
}

/** The same seal once more shows no less, so only lists of text are doubled. */
function nearLists(list: readonly unknown[]): fc.Arbitrary<unknown> {
  const isText = list.every((item) => typeof item === 'string')
  const longer = isText ? [fc.constant([...list, ...list])] : []
  return fc.oneof(fc.constant(list.slice(1)), fc.constant(list.toReversed()), ...longer)
}

/** A quantity may as well be answered in decimal. */
function isSame(one: unknown, other: unknown): boolean {
  if (JSON.stringify(one) === JSON.stringify(other)) return true
  if (typeof one !== 'string' || typeof other !== 'string') return false
  return /^\d+$/.test(one) && /^0x[0-9a-f]+$/.test(other) && BigInt(one) === BigInt(other)
}

interface Change {
  readonly document: Answered
  readonly path: Path
  readonly part: unknown
}

const change: fc.Arbitrary<Change> = anyDocument.chain((document) =>
  fc
    .constantFrom(...pathsOf(document))
    .chain((path) => near(partAt(document, path)).map((part) => ({ document, path, part }))),
)

test('any change of a value, path, index, count, root or seal is refused with a reason', () => {
  const property = fc.property(change, ({ document, path, part }) => {
    fc.pre(!isSame(part, partAt(document, path)))
    const verdict = verifyDocument(withPart(document, path, part), byAlice)
    assert.equal(verdict.proves, 'nothing', `${path.join('.')} is another`)
    assert.match(verdict.failure.message, /^[A-Z].*\.$/s)
  })
  fc.assert(property, { numRuns: 800 })
})

test('without any one of its fields only the CID is proven, and the field is named', () => {
  const property = fc.property(anyDocument, fc.nat(), (document, choice) => {
    const names = Object.keys(document).filter((name) => name !== '_proof')
    const name = names[choice % names.length] ?? ''
    const { [name]: _, ...rest } = document
    const verdict = verifyDocument(rest, byAlice)
    assert.equal(verdict.proves, 'cid')
    assert.deepEqual(verdict.missing, [name])
    assert.deepEqual(
      verdict.unproven,
      Object.keys(rest).filter((one) => !['_docID', '_proof'].includes(one)),
    )
  })
  fc.assert(property, { numRuns: 60 })
})

describe('any input gets a verdict and nothing is thrown:', () => {
  const checkVerdict = (value: unknown): void => {
    verifyDocument(value, byAlice)
    verifyAnswer(value, byAlice)
  }
  const names = Object.values(collections).flatMap(({ fields }) => fields.map(({ name }) => name))

  test('any value of JavaScript', () => {
    const withSymbolsAndMore = fc.anything({
      withBigInt: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withDate: true,
      withSparseArray: true,
    })
    fc.assert(fc.property(withSymbolsAndMore, checkVerdict), { numRuns: 1_000 })
  })

  test('objects with the fields of documents and proofs, holding anything', () => {
    const key = fc.constantFrom(
      '_docID',
      '_proof',
      'cid',
      'seals',
      'block',
      'path',
      '__proto__',
      ...names,
    )
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.anything(),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 8 }),
      ),
    }))
    fc.assert(fc.property(tree, checkVerdict), { numRuns: 1_000 })
  })

  test('documents with anything in the place of any part', () => {
    const property = fc.property(change, fc.anything(), ({ document, path }, anything) => {
      checkVerdict(withPart(document, path, anything))
    })
    fc.assert(property, { numRuns: 500 })
  })
})
