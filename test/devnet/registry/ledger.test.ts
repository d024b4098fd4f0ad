import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChainView, createLedger, type ViewStep } from '../../../src/devnet/registry/ledger.ts'

function view(address: string): ChainView {
  return { address, creator: '0xc', name: address, height: 1, wire: new Uint8Array() }
}

let number = 0
function transaction(...steps: ViewStep[]) {
  number += 1
  return { height: number, id: `${number}`, steps }
}

test('a View waits until it is registered, has failed or has timed out', () => {
  const ledger = createLedger()
  const [a, b, c, d, e] = ['0xa', '0xb', '0xc', '0xd', '0xe'].map(view) as [
    ChainView,
    ChainView,
    ChainView,
    ChainView,
    ChainView,
  ]
  ledger.add(transaction(...[d, c, b, a].map((each) => ({ kind: 'pending' as const, view: each }))))
  assert.deepEqual([ledger.registered(), ledger.pending()], [[], [d, c, b, a]])
  ledger.add(transaction({ kind: 'registered', view: b }))
  assert.deepEqual([ledger.registered(), ledger.pending()], [[b], [d, c, a]])
  ledger.add(transaction({ kind: 'failed', view: c, error: 'a test' }))
  ledger.add(transaction({ kind: 'registered', view: a }))
  ledger.add(transaction({ kind: 'timed_out', view: d, error: 'a test' }))
  assert.deepEqual([ledger.registered(), ledger.pending()], [[a, b], []])
  ledger.add(transaction({ kind: 'pending', view: a }))
  assert.deepEqual(ledger.registered(), [a, b], 'what is registered stays so')
  ledger.add(transaction({ kind: 'registered', view: e }))
  assert.deepEqual(ledger.registered(), [a, b, e])
})

test('listeners hear of each transaction once it is in, until they have heard enough', () => {
  const ledger = createLedger()
  const heard: (readonly [height: number, pending: number])[] = []
  const stop = ledger.onTransaction(({ height }) => {
    heard.push([height, ledger.pending().length])
  })
  const first = transaction({ kind: 'pending', view: view('0xa') })
  ledger.add(first)
  stop()
  const second = transaction({ kind: 'pending', view: view('0xb') })
  ledger.add(second)
  assert.deepEqual(heard, [[first.height, 1]])
  assert.deepEqual(ledger.transactions(), [first, second])
})
