/** Where a chain is asked why a registration failed, and how that is said. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDevelopmentRegistry } from '../../../src/devnet/registry/development-registry.ts'
import { cometUrlOf, endText, findEnd } from '../../../src/toolkit/deploy/ended-registration.ts'
import { encodeView } from '../../../src/views/wire.ts'

test('the consensus RPC is that of the flag, else of the environment as a Host has it', () => {
  const env = { REGISTRY_RPC_URL: 'ws://node:26657/websocket' }
  assert.equal(cometUrlOf({ env }, {}), 'http://node:26657/websocket')
  assert.equal(cometUrlOf({ env }, { comet: 'wss://other:1' }), 'https://other:1/')
  assert.equal(cometUrlOf({ env }, { comet: 'http://other:1' }), 'http://other:1/')
  assert.equal(cometUrlOf({ env: {} }, {}), null)
  assert.equal(cometUrlOf({ env: { REGISTRY_RPC_URL: '' } }, {}), null)
})

test('what is no URL of a consensus RPC is wrong usage of what named it', () => {
  const refused = (given: string, flag: string) => ({
    code: 'TOOLKIT_USAGE_INVALID',
    message: `"${given}" is not a URL of a consensus RPC`,
    remedy: `Give http:// or https:// with ${flag}.`,
  })
  assert.throws(() => cometUrlOf({ env: {} }, { comet: '' }), refused('', '--comet'))
  const env = { REGISTRY_RPC_URL: 'node:26657' }
  assert.throws(() => cometUrlOf({ env }, {}), refused('node:26657', 'REGISTRY_RPC_URL'))
})

test('how a registration ended is said with the words of the chain, where it has any', () => {
  const [refused, late] = [
    'the other chain refused it',
    'the other chain did not answer within five minutes',
  ]
  assert.equal(endText({ kind: 'refused', error: ' no\n\u001b[2Jroom ' }), `${refused}: no room`)
  assert.equal(endText({ kind: 'refused', error: ' \n' }), refused)
  assert.equal(endText({ kind: 'timedOut', error: '' }), late)
})

test('the end of a registration is found from its own height on, and not above', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const wire = encodeView({ query: 'Log { data }', sdl: 'type V { data: String }', lenses: [] })
  const address = await registry.register(`0x${'11'.repeat(20)}`, wire)
  await registry.settle({ failed: [address] })
  const { signal } = new AbortController()
  const endSince = (sinceHeight: number) =>
    findEnd({ signal }, registry.cometUrl, { address, sinceHeight, withinMs: 0 })
  const found = (await endSince(0)) ?? assert.fail('it has ended')
  assert.equal(found.kind, 'refused')
  assert.deepEqual(await endSince(found.height), found)
  assert.equal(await endSince(found.height + 1), null)
})

test('the end of a registration is waited for where the chain does not say it yet', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const wire = encodeView({ query: 'Log { data }', sdl: 'type V { data: String }', lenses: [] })
  const address = await registry.register(`0x${'11'.repeat(20)}`, wire)
  const { signal } = new AbortController()
  const asked = t.mock.method(globalThis, 'fetch')
  const awaited = { address, sinceHeight: 0, withinMs: 60_000 }
  const found = findEnd({ signal }, registry.cometUrl, awaited)
  // It is asked for both ways to end, neither of which is there.
  await Promise.all(asked.mock.calls.map(({ result }) => result))
  assert.equal(asked.mock.callCount(), 2)
  await registry.settle({ failed: [address] })
  assert.equal((await found)?.kind, 'refused')
})
