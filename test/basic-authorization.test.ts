import assert from 'node:assert/strict'
import { test } from 'node:test'
import { basicAuthorization } from '../src/basic-authorization.ts'

test('the user and the password of a URL become a header, where it has one of them at least', () => {
  const sent = ['user:p%40ss@', 'user@', ':secret@', ''].map((who) => {
    const { authorization } = basicAuthorization(new URL(`http://${who}node`))
    return authorization === undefined ? null : atob(authorization.replace(/^Basic /, ''))
  })
  assert.deepEqual(sent, ['user:p@ss', 'user:', ':secret', null])
})
