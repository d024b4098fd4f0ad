/** The bounds of a proof, each just kept and just broken. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFailure } from '../../src/verify/failure.ts'
import { readProof } from '../../src/verify/proof.ts'
import { documentOf } from '../support/chain/answered-documents.ts'

const proof: Readonly<Record<string, unknown>> = Object(documentOf('tx-')['_proof'])
const [seal] = proof['seals'] as readonly Readonly<Record<string, unknown>>[]
const [hash] = proof['path'] as readonly string[]
const block: Readonly<Record<string, unknown>> = Object(proof['block'])
const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)

/** What is said of a proof with these fields; null where nothing is wrong with its form. */
function complaint(fields: object): string | null {
  const read = readProof({ ...proof, ...fields })
  return isFailure(read) ? read.message : null
}

const wrong = (field: string): string =>
  `The field ${field} of the proof has a wrong form or is too long.`

test('a proof as a Host gives it is read, with or without the place of a document', () => {
  assert.equal(complaint({}), null)
  assert.equal(complaint({ cid: null, index: null, path: [] }), null)
})

test('a proof is read up to its bounds, and beyond them its field is named', () => {
  const most = 2 ** 31 - 1
  const bounds: readonly (readonly [field: string, within: object, beyond: object])[] = [
    ['network', { network: 'N'.repeat(130) }, { network: 'N'.repeat(131) }],
    ['network', { network: 'N' }, { network: '' }],
    ['count', { count: 1 }, { count: 0 }],
    ['count', { count: most }, { count: most + 1 }],
    ['index', { index: 0 }, { index: -1 }],
    ['index', { index: most }, { index: null }],
    ['root', { root: 'a'.repeat(64) }, { root: 'a'.repeat(65) }],
    ['root', { root: '0'.repeat(64) }, { root: 'A'.repeat(64) }],
    ['path', { path: times(31, hash) }, { path: times(32, hash) }],
    ['path', { path: [hash] }, { path: [`${hash}0`] }],
    ['seals', { seals: times(256, seal) }, { seals: times(257, seal) }],
    ['block.number', { block: { ...block, number: 0 } }, { block: { ...block, number: 0.5 } }],
    ['block.hash', { block }, { block: { ...block, hash: '0x12' } }],
    ['block.hash', { block }, { block: { ...block, hash: `00${String(block['hash']).slice(2)}` } }],
    ['block.hash', { block }, { block: { ...block, hash: 12 } }],
    ['block.number', {}, { block: null }],
    ['seals', { seals: [] }, { seals: [null] }],
    ['cid', {}, { cid: 'bafy' }],
    ['cid', {}, { cid: null }],
    ...['type', 'identity', 'value'].map(
      (name) =>
        [
          'seals',
          { seals: [{ ...seal, [name]: 'x'.repeat(200) }] },
          { seals: [{ ...seal, [name]: 'x'.repeat(201) }] },
        ] as const,
    ),
  ]
  for (const [field, within, beyond] of bounds) {
    assert.equal(complaint(within), null, JSON.stringify(within).slice(0, 200))
    assert.equal(complaint(beyond), wrong(field), JSON.stringify(beyond).slice(0, 200))
  }
})

test('what a proof lacks is listed, with what to ask for', () => {
  const { cid: _, ...others } = proof
  const { value: __, ...unsigned } = seal ?? {}
  const read = readProof({ ...others, seals: [unsigned], block: { number: 1 } })
  assert.ok(isFailure(read))
  assert.equal(
    read.message,
    'The proof lacks cid, block.hash, seals.value. Ask for _proof { network cid index count path root block { number hash } seals { type identity value } }.',
  )
  for (const value of [null, undefined, 'text'])
    assert.deepEqual(Object(readProof(value)).code, 'proof-missing')
})
