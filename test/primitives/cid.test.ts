import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { createCidMaker, documentCid } from '../../src/primitives/cid.ts'
import { cidText } from '../../src/primitives/cid-text.ts'
import { canonicalBytes, encodeValues } from '../../src/primitives/values.ts'

test('a document’s CID is CIDv1, dag-cbor, sha2-256 over its canonical bytes', () => {
  const values = encodeValues('AccessListEntry', [`0x${'11'.repeat(20)}`, 7, []])
  const cid = documentCid('Local__Devnet', 'AccessListEntry', 'entry-0x00-0', values)
  const bytes = canonicalBytes('Local__Devnet', 'AccessListEntry', 'entry-0x00-0', values)
  const expected = CID.createV1(
    0x71,
    createDigest(0x12, createHash('sha256').update(bytes).digest()),
  )
  assert.deepEqual(Buffer.from(cid), Buffer.from(expected.bytes))
  assert.equal(cidText(cid), expected.toString())
  assert.match(cidText(cid), /^bafyrei/)
})

test('a CID maker for many documents makes the same CIDs, whatever their sizes', () => {
  const makeCid = createCidMaker('Local__Devnet', 'Log')
  fc.assert(
    fc.property(
      fc.string({ maxLength: 300, size: 'max' }),
      fc.uint8Array({ maxLength: 9000, size: 'max' }),
      (docID, values) => {
        const framed = Buffer.concat([Buffer.alloc(3), values, Buffer.alloc(2)])
        assert.deepEqual(
          makeCid(docID, framed, 3, 3 + values.length),
          documentCid('Local__Devnet', 'Log', docID, values),
        )
      },
    ),
    { numRuns: 50 },
  )
})
