import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearerAuthorization } from '../src/bearer-authorization.ts'

test('a token is sent where a header can carry it, and none is made of others', () => {
  for (const token of ['a', 'a b\t~', '\u00e9'])
    assert.deepEqual(bearerAuthorization(token), { authorization: `Bearer ${token}` })
  for (const token of ['', 'a\n', 'a\u0000', '\u20ac'])
    assert.equal(bearerAuthorization(token), null)
})
