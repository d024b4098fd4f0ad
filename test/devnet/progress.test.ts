import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openProgress } from '../../src/devnet/progress.ts'
import { captureLog } from '../support/captured-log.ts'
import { openJsonServer } from './support/json-server.ts'

/** Null for a program that does not respond. */
interface Heads {
  node: number | null
  generator: number | null
  host: number | null
}

/** The three programs, of which the node may hold its answers back. */
async function openScene(t: TestContext) {
  const heads: Heads = { node: 9, generator: 8, host: null }
  const scene = { heads, holding: Promise.resolve(), firstBlocks: 0 }
  const health = (head: number | null) => {
    if (head === null) throw new Error('it does not respond')
    return { head, p2p: { peers: [{ id: 'a' }, { id: 'b' }] } }
  }
  const node = await openJsonServer(t, async () => {
    await scene.holding
    if (heads.node === null) throw new Error('it does not respond')
    return { result: `0x${heads.node.toString(16)}` }
  })
  const generator = await openJsonServer(t, () => health(heads.generator))
  const host = await openJsonServer(t, () => health(heads.host))
  const { log, line, lines } = captureLog()
  t.mock.timers.enable({ apis: ['setInterval'] })
  const progress = openProgress(
    { node: { rpcUrl: node.url }, generatorUrl: generator.url, hostUrl: host.url },
    {
      log,
      onFirstBlock: () => {
        scene.firstBlocks += 1
      },
    },
  )
  t.after(() => progress.close())
  let polls = 0
  return Object.assign(scene, {
    ...{ progress, lines },
    asked: () => node.asked.length,
    tick: () => t.mock.timers.tick(1_000),
    /** Lets so many polls begin, each once the one before is over. */
    async poll(times: number) {
      polls += times
      while (node.asked.length < polls) {
        t.mock.timers.tick(1_000)
        await nextTurn()
      }
    },
    /** The facts of a line, without its time. */
    async said(message: string, number?: number) {
      const { level, time, msg, ...facts } = await line(message, number)
      return facts
    },
  })
}

const arrive = 'blocks arrive at the Host'
const none = 'no new block at the Host'

test('every tenth poll is reported, with the heads of those that respond', async (t) => {
  const { heads, poll, said, lines } = await openScene(t)
  await poll(10)
  assert.deepEqual(await said(none), { node: 9, generator: 8, host: null, peers: 0 })
  Object.assign(heads, { node: 12, generator: null, host: 11 })
  await poll(10)
  assert.deepEqual(await said(arrive), { node: 12, generator: null, host: 11, peers: 2 })
  heads.node = null
  await poll(10)
  assert.deepEqual(await said(none, 2), { node: null, generator: null, host: 11, peers: 2 })
  heads.host = 12
  await poll(10)
  assert.partialDeepStrictEqual(await said(arrive, 2), { host: 12 })
  heads.host = null
  await poll(10)
  assert.partialDeepStrictEqual(await said(none, 3), { host: null })
  assert.equal(lines.length, 5)
})

test('the first block of the Host is reported once, as soon as it is there', async (t) => {
  const scene = await openScene(t)
  await scene.poll(3)
  assert.equal(scene.firstBlocks, 0)
  scene.heads.host = 1
  await scene.poll(2)
  while (scene.firstBlocks === 0) await nextTurn()
  await scene.poll(8)
  assert.equal(scene.firstBlocks, 1)
})

test('nobody is asked again before the answers are there, or after the end', async (t) => {
  const scene = await openScene(t)
  const held = Promise.withResolvers<void>()
  scene.holding = held.promise
  await scene.poll(1)
  for (let second = 0; second < 5; second++) {
    scene.tick()
    for (let turn = 0; turn < 10; turn++) await nextTurn()
  }
  assert.equal(scene.asked(), 1)
  held.resolve()
  await scene.poll(1)
  scene.progress.close()
  for (let turn = 0; turn < 50; turn++) await nextTurn()
  scene.tick()
  for (let turn = 0; turn < 50; turn++) await nextTurn()
  assert.equal(scene.asked(), 2)
})
