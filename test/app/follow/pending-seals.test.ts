/** Which seals of blocks that are not stored yet are kept, and which root they name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPendingSeals, sealedRoot } from '../../../src/app/follow/pending-seals.ts'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import type { Seal } from '../../../src/primitives/seal.ts'
import { namedHash, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { signSeal, testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'

const [A, B, C] = ['A', 'B', 'C'].map((name) => testSigner(name))
assert.ok(A && B && C)
const options = { network: testNetwork, signers: new Set([A.identity, B.identity]) }
const placeOf = (number: number): { number: number; hash: string } => ({
  number,
  hash: namedHash(`block ${number}`),
})
const seven = placeOf(7)
const by = (signer: DigestSigner, place = seven, network = testNetwork): Seal =>
  signSeal({ ...place, network, cids: [] }, signer)

test('seals of accepted Generators over this very block are accepted, others are not', () => {
  const { accepted } = createPendingSeals(options)
  const good = [by(A), by(B)]
  const { number, hash } = seven
  const others = [
    by(C),
    by(A, seven, 'Ethereum__Sepolia'),
    by(A, { number: 8, hash }),
    by(A, { number, hash: placeOf(8).hash }),
    { ...by(A), signatureValue: by(B).signatureValue },
  ]
  assert.deepEqual(accepted(seven, [...others, ...good]), good)
})

test('the first seal of each Generator is kept, whether a second comes with it or after it', () => {
  const seals = createPendingSeals(options)
  const second = (seal: Seal): Seal => ({ ...seal, createdAt: '2027-01-01T00:00:00Z' })
  seals.add(seven, [by(A), second(by(A))])
  seals.add(seven, [second(by(A)), by(B)])
  assert.deepEqual(seals.take(seven.hash), [by(A), by(B)])
  assert.deepEqual(seals.take(seven.hash), [], 'they were taken')
})

test('seals below a height are forgotten, those at it are kept', () => {
  const seals = createPendingSeals(options)
  for (const place of [placeOf(6), seven]) seals.add(place, [by(A, place)])
  seals.forgetBelow(7)
  assert.deepEqual(
    [placeOf(6), seven].map(({ hash }) => seals.take(hash).length),
    [0, 1],
  )
})

test('seals of 4,096 blocks are kept, and with one more those of the oldest go', () => {
  const seals = createPendingSeals(options)
  const seal = by(A)
  for (let number = 0; number < 4_096; number++) seals.add(placeOf(number), [seal])
  seals.add(placeOf(5_000), [])
  seals.add(placeOf(4_095), [by(B)])
  seals.add(placeOf(4_096), [seal])
  assert.deepEqual(
    [0, 1, 4_095, 4_096].map((number) => seals.take(placeOf(number).hash).length),
    [0, 1, 2, 1],
  )
})

/** What a Generator of this name sealed. */
const named = (signatureIdentity: string, merkleRoot: string): Seal => ({
  ...opaqueSeal(7),
  ...{ signatureIdentity, merkleRoot },
})

test('the root is the one that most Generators sealed, each counted once, of as many the smaller', () => {
  assert.equal(sealedRoot([]), null)
  assert.equal(sealedRoot([named('a', 'ff')]), 'ff')
  assert.equal(sealedRoot([named('a', '00'), named('b', 'ff'), named('c', 'ff')]), 'ff')
  assert.equal(sealedRoot([named('b', 'ff'), named('a', '00'), named('a', '00')]), '00')
  assert.equal(sealedRoot([named('a', 'ff'), named('a', 'ff'), named('b', '00')]), '00')
  assert.equal(sealedRoot([named('b', '00'), named('a', 'ff')]), '00')
})
