import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseIdentity } from '../../../../operator/reconcile/observe/signing-identity.ts'
import { signerIdentity } from '../../../../src/host/config.ts'
import { identity } from '../../../support/resources/operator-cases.ts'

test('an identity is a public key of either kind in lower-case hex', () => {
  const ed25519 = identity.slice(2)
  assert.equal(parseIdentity(identity), identity)
  assert.equal(parseIdentity(ed25519), ed25519)
})

test('what has not the form of a public key is no identity', () => {
  for (const value of [
    null,
    7,
    [identity],
    '',
    `0x${identity}`,
    identity.toUpperCase(),
    `${identity}00`,
    identity.slice(0, -1),
    `04${identity.slice(2)}`,
    `${identity}\n`,
    `${identity}\n${identity}`,
  ]) {
    assert.equal(parseIdentity(value), null, JSON.stringify(value))
  }
})

test('what is taken for an identity is one to a Host, which would refuse its whole file else', () => {
  const hex = fc.string({
    unit: fc.constantFrom(...'0123456789abcdef'),
    maxLength: 70,
    size: 'max',
  })
  const near = fc
    .tuple(fc.constantFrom('', '02', '03', '04', '0x'), hex)
    .map((both) => both.join(''))
  const exact = hex.map((text) => `02${text.padEnd(64, '0').slice(0, 64)}`)
  fc.assert(
    fc.property(fc.oneof(fc.string(), near, exact), (text) => {
      const found = parseIdentity(text)
      if (found !== null) assert.equal(signerIdentity.schema.parse(found), text)
    }),
  )
})
