import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResponseBuffers } from '../../src/chain/response-buffers.ts'

const mebibyte = 1024 * 1024

test('a buffer that was given back is used again where it is large enough', () => {
  const buffers = createResponseBuffers(1)
  const first = buffers.borrow(mebibyte)
  buffers.release(first)
  assert.notEqual(buffers.borrow(2 * mebibyte), first)
  assert.equal(buffers.borrow(1), first)
  assert.notEqual(buffers.borrow(1), first, 'it is in use')
})

test('each of several buffers that were given back is used again', () => {
  const buffers = createResponseBuffers(2)
  const given = [buffers.borrow(1), buffers.borrow(1)]
  for (const buffer of given) buffers.release(buffer)
  const taken = [buffers.borrow(1), buffers.borrow(1)]
  assert.ok(given.every((buffer) => taken.includes(buffer)))
})

test('no more buffers are kept than are asked for, and none above 4 MiB', () => {
  const buffers = createResponseBuffers(1)
  const [one, two] = [buffers.borrow(1), buffers.borrow(1)]
  for (const buffer of [one, two]) buffers.release(buffer)
  assert.deepEqual([buffers.borrow(1) === one, buffers.borrow(1) === two], [true, false])
  const [most, tooLarge] = [buffers.borrow(4 * mebibyte), buffers.borrow(4 * mebibyte + 1)]
  buffers.release(tooLarge)
  assert.notEqual(buffers.borrow(4 * mebibyte), tooLarge)
  buffers.release(most)
  assert.equal(buffers.borrow(4 * mebibyte), most)
})

test('a buffer that grows keeps what is used of it, and its memory is used again', () => {
  const buffers = createResponseBuffers(1)
  const small = buffers.borrow(1)
  small.fill(7)
  const large = buffers.grow(small, small.length)
  assert.ok(large.length >= 2 * small.length)
  assert.deepEqual(large.subarray(0, small.length), small)
  assert.equal(buffers.borrow(1), small)
})
