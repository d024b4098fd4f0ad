import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { cidText, parseCid } from '../../src/primitives/cid-text.ts'

const digest = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('a CID’s text form is what the library reads and writes', () => {
  fc.assert(
    fc.property(digest, (bytes) => {
      const cid = CID.createV1(0x71, createDigest(0x12, bytes))
      assert.equal(cidText(cid.bytes), cid.toString())
      assert.deepEqual(parseCid(cid.toString()), Uint8Array.from(cid.bytes))
    }),
  )
})

test('other CIDs and damaged text are no CIDs of documents', () => {
  const bytes = createHash('sha256').digest()
  const text = CID.createV1(0x71, createDigest(0x12, bytes)).toString()
  const lastLetter = text.at(-1) === 'b' ? 'c' : 'b'
  const others = [
    '',
    CID.createV1(0x55, createDigest(0x12, bytes)).toString(),
    CID.createV1(0x71, createDigest(0x13, bytes)).toString(),
    CID.createV0(createDigest(0x12, bytes)).toString(),
    text.slice(0, -1),
    `${text}a`,
    text.toUpperCase(),
    `z${text.slice(1)}`,
    `${text.slice(0, -1)}${lastLetter}`,
  ]
  for (const other of others) assert.equal(parseCid(other), null, other)
})

test('any text of the right length is refused or is the text of what was read', () => {
  const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567089AZ')
  const tail = fc.array(letter, { minLength: 52, maxLength: 52 }).map((letters) => letters.join(''))
  fc.assert(
    fc.property(tail, (text) => {
      const cid = parseCid(`bafyrei${text}`)
      if (cid !== null) assert.equal(cidText(cid), `bafyrei${text}`)
    }),
    { numRuns: 500 },
  )
})
