import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Fault } from '../../../src/p2p/limits/fault.ts'
import { defaultLimits, type P2pLimits } from '../../../src/p2p/limits/limits.ts'
import { createPacer, createRequestGate } from '../../../src/p2p/streams/request-gate.ts'

const never = new AbortController().signal

/** A gate where everybody is a stranger from one address, and what it took for faults. */
function openGate(limits: Partial<P2pLimits>): {
  gate: ReturnType<typeof createRequestGate>
  faults: Fault[]
} {
  const faults: Fault[] = []
  const gate = createRequestGate(
    { ...defaultLimits, ...limits },
    {
      remoteOf: () => ({ key: '10.0.0.1', isConfigured: false }),
      onFault: (_, fault) => faults.push(fault),
    },
  )
  return { gate, faults }
}

test("four seconds' worth of one peer are answered at once; one more is a fault", async () => {
  const { gate, faults } = openGate({ requestsPerSecond: 2 })
  for (let request = 0; request < 8; request += 1)
    assert.equal(await gate.admit('p', 'a test', never), true)
  assert.deepEqual(faults, [])
  assert.equal(await gate.admit('p', 'a test', never), false)
  assert.deepEqual(faults, ['request flood'])
  assert.equal(await gate.admit('q', 'a test', never), true)
})

test('requests of one address wait together, and a peer that leaves meanwhile gets no response', async () => {
  const requests = { configured: 1, address: 20, strangers: 1000 }
  const { gate, faults } = openGate({ requests })
  const leaving = new AbortController()
  const answers = Array.from({ length: 80 }, (_, peer) => gate.admit(`p${peer}`, 'a test', never))
  const late = gate.admit('late', 'a test', never)
  const left = gate.admit('left', 'a test', leaving.signal)
  leaving.abort()
  assert.equal(await left, false)
  assert(await late)
  assert((await Promise.all(answers)).every(Boolean))
  assert.deepEqual(faults, [])
})

test('what would wait too long is refused at once, without blame', async () => {
  const requests = { configured: 1, address: 0.25, strangers: 1000 }
  const { gate, faults } = openGate({ requests, requestWaitMs: 3999 })
  assert.equal(await gate.admit('p', 'a test', never), true)
  assert.equal(await gate.admit('q', 'a test', never), false)
  assert.deepEqual(faults, [])
})

const isAtOnce = (wait: Promise<void>): Promise<boolean> =>
  Promise.race([wait.then(() => true), nextTurn(false)])

test('a request that is given up before its turn was asked for takes none', async () => {
  const pacer = createPacer({ ...defaultLimits, requestsPerSecond: 2.5 })
  const reason = new Error('enough')
  for (let request = 0; request < 2; request += 1)
    await assert.rejects(pacer.wait('p', AbortSignal.abort(reason)), reason)
  for (let request = 0; request < 2; request += 1)
    assert.equal(await isAtOnce(pacer.wait('p', never)), true)
})

test('our own requests to a peer wait for their turn, those to others do not', async () => {
  const pacer = createPacer({ ...defaultLimits, requestsPerSecond: 2.5 })
  const stop = new AbortController()
  assert.equal(await isAtOnce(pacer.wait('p', stop.signal)), true)
  assert.equal(await isAtOnce(pacer.wait('p', stop.signal)), true)
  const third = pacer.wait('p', stop.signal)
  assert.equal(await isAtOnce(third), false)
  assert.equal(await isAtOnce(pacer.wait('q', stop.signal)), true)
  const reason = new Error('enough')
  stop.abort(reason)
  await assert.rejects(third, reason)
})
