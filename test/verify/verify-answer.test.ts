import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyAnswer } from '../../src/verify/verify.ts'
import { alice, documentOf, outcomeOf } from '../support/chain/answered-documents.ts'

const byAlice = { identities: [alice.identity] }

/** Path and verdict of each document in short. */
const outcomesOf = (answer: unknown): readonly string[] =>
  verifyAnswer(answer, byAlice).map(
    ({ path, verdict }) => `${path.join('.')}: ${outcomeOf(verdict)}`,
  )

test('every document of a nested answer gets its own verdict, the outer ones first', () => {
  const { value, ...half } = documentOf('tx-')
  const answer = {
    data: {
      Block: [
        {
          ...documentOf('block-'),
          transactions: [
            {
              ...documentOf('tx-'),
              logs: [documentOf('log-'), { ...documentOf('log-'), logIndex: 9 }],
            },
            { ...half, accessList: [documentOf('entry-')], block: { _proof: null } },
          ],
        },
      ],
      named: { members: [[documentOf('log-')]] },
    },
  }
  assert.deepEqual(outcomesOf(answer), [
    'data.Block.0: document',
    'data.Block.0.transactions.0: document',
    'data.Block.0.transactions.0.logs.0: document',
    'data.Block.0.transactions.0.logs.1: cid-wrong',
    'data.Block.0.transactions.1: cid',
    'data.Block.0.transactions.1.accessList.0: document',
    'data.Block.0.transactions.1.block: proof-missing',
    'data.named.members.0.0: document',
  ])
})

test('a part of an answer is verified too, down to one document', () => {
  assert.deepEqual(outcomesOf(documentOf('log-')), [': document'])
  assert.deepEqual(outcomesOf([documentOf('log-')]), ['0: document'])
})

test('a path has keys of objects as texts and places in lists as numbers', () => {
  const answer = { data: { 0: documentOf('tx-'), Log: [{}, documentOf('log-')] } }
  assert.deepEqual(
    verifyAnswer(answer, byAlice).map(({ path }) => path),
    [
      ['data', '0'],
      ['data', 'Log', 1],
    ],
  )
})

test('what a proof holds is no document of the answer, whatever it is called', () => {
  const { _proof, ...fields } = documentOf('tx-')
  const nested = { ...fields, _proof: { ...Object(_proof), more: [documentOf('log-')] } }
  assert.deepEqual(outcomesOf({ data: [nested] }), ['data.0: document'])
})

test('an answer without proofs has no verdicts', () => {
  for (const answer of [{ data: { Log: [{ hash: '0x' }] } }, { errors: [] }, null, 'text', 7]) {
    assert.deepEqual(outcomesOf(answer), [])
  }
})

test('an object that is in the answer twice, as caching clients have it, is reported once', () => {
  const log = documentOf('log-')
  const cyclic = { log, again: log, self: {} }
  cyclic.self = cyclic
  assert.deepEqual(outcomesOf(cyclic), ['log: document'])
})

test('parts nested deeper than any answer are reported, and not searched', () => {
  const nested = (levels: number): unknown =>
    levels === 0 ? { _proof: null } : { deeper: nested(levels - 1) }
  assert.deepEqual(outcomesOf(nested(64)), [`${Array(64).fill('deeper').join('.')}: proof-missing`])
  assert.deepEqual(outcomesOf(nested(65)), [`${Array(65).fill('deeper').join('.')}: too-deep`])
  let bottomless: unknown = documentOf('log-')
  for (let level = 0; level < 1_000_000; level++) bottomless = [bottomless]
  assert.equal(verifyAnswer(bottomless, byAlice).length, 1)
})

test('a long answer is verified', () => {
  const log = documentOf('log-')
  const answer = Array.from({ length: 150_000 }, () => ({ of: 1 }))
  assert.deepEqual(outcomesOf([...answer, log]), ['150000: document'])
})
