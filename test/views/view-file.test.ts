/** A View as a file: its bytes are what both IDs are made of, and its name is the long one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { viewLimits } from '../../src/views/view.ts'
import { maxViewFile, parseViewFile, toViewFile, viewFileID } from '../../src/views/view-file.ts'
import { first, second } from './vectors.ts'

test('a file has the sender and the wire bytes, under the long ID, which is their hash', () => {
  for (const { sender, wire, id } of [first, second]) {
    const { name, bytes } = toViewFile({ sender, wire: Buffer.from(wire, 'hex') })
    assert.equal(name, `${id}.view`)
    assert.equal(Buffer.from(bytes).toString('hex'), `${sender.slice(2)}${wire}`)
    assert.equal(`0x${Buffer.from(keccak_256(bytes)).toString('hex')}`, viewFileID(name))
    assert.deepEqual(parseViewFile(bytes), {
      sender,
      wire: new Uint8Array(Buffer.from(wire, 'hex')),
    })
  }
})

test('any name of a file of a View is one that a ConfigMap accepts as a key', () => {
  assert.match(`${first.id}.view`, /^[-._a-zA-Z0-9]{1,253}$/)
})

test('names of other files say no ID', () => {
  for (const name of [
    '',
    '..data',
    first.id,
    `${first.id}.view~`,
    `.${first.id}.view`,
    `${first.id.slice(2)}.view`,
    `${first.address}.view`,
    `0x${first.id.slice(2).toUpperCase()}.view`,
    `${first.id}.view\n`,
  ])
    assert.equal(viewFileID(name), null, name)
})

test('what files hold comes back, in either case of the sender', () => {
  const hex = fc.uint8Array({ minLength: 20, maxLength: 20 })
  fc.assert(
    fc.property(
      hex,
      fc.uint8Array({ minLength: 1, maxLength: 200, size: 'max' }),
      (account, wire) => {
        const sender = `0x${Buffer.from(account).toString('hex')}`
        const upper = `0x${sender.slice(2).toUpperCase()}`
        assert.deepEqual(parseViewFile(toViewFile({ sender, wire }).bytes), { sender, wire })
        assert.deepEqual(toViewFile({ sender: upper, wire }), toViewFile({ sender, wire }))
      },
    ),
  )
})

test('whatever bytes a file has, a View of them is that file again', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 21, maxLength: 300, size: 'max' }), (bytes) => {
      assert.deepEqual(toViewFile(parseViewFile(bytes)).bytes, bytes)
    }),
  )
})

test('a file without wire bytes is malformed, and one above the limit too large', () => {
  for (const length of [0, 19, 20])
    assert.throws(() => parseViewFile(new Uint8Array(length)), {
      code: 'VIEWS_FILE_MALFORMED',
      message: `a file of a View has ${length} bytes, where 20 are the sender alone`,
    })
  assert.equal(parseViewFile(new Uint8Array(maxViewFile)).wire.length, viewLimits.wire)
  assert.throws(() => parseViewFile(new Uint8Array(maxViewFile + 1)), { code: 'VIEWS_TOO_LARGE' })
})
