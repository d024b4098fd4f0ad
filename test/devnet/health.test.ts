import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readHealth, waitForPeerId } from '../../src/devnet/health.ts'
import { openJsonServer } from './support/json-server.ts'

test('health is what a program says of itself, and nothing that anything else says', async (t) => {
  const report = { head: 3, p2p: { peers: [] } }
  const answers: unknown[] = [report, { head: 3 }, null, 'p2p', [], undefined]
  const paths: string[] = []
  const { url } = await openJsonServer(t, (_, path) => {
    paths.push(path)
    return answers.shift()
  })
  assert.deepEqual(await readHealth(url), report)
  for (let left = answers.length; left > 0; left--) assert.equal(await readHealth(url), null)
  assert.equal(paths[0], '/health')
  assert.equal(await readHealth('http://127.0.0.1:1'), null)
})

test('a peer ID is waited for until the program has one', async (t) => {
  const answers: unknown[] = [{}, { p2p: { peers: [] } }, { p2p: { self: { id: '12D3' } } }]
  const { url, asked } = await openJsonServer(t, () => answers.shift())
  assert.equal(await waitForPeerId(url, t.signal), '12D3')
  assert.equal(asked.length, 3)
})

test('a program that has no peer ID after a minute is given up, however slowly it answers', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const { url, asked } = await openJsonServer(t, () => {
    nowMs += 30_000
    return {}
  })
  await assert.rejects(waitForPeerId(url, t.signal), {
    code: 'DEVNET_START_TIMEOUT',
    message: `no peer ID at ${url}/health`,
    facts: { seconds: 60 },
  })
  assert.equal(asked.length, 2)
})

test('nobody waits any longer for a peer ID when all is to stop', async (t) => {
  const controller = new AbortController()
  const { url } = await openJsonServer(t, () => {
    controller.abort()
    return {}
  })
  await assert.rejects(waitForPeerId(url, controller.signal), { name: 'AbortError' })
})
