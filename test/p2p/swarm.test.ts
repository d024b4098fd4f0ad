/** A hundred hostile peers from ten addresses, with everything they can think of, and the default limits. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { defaultLimits } from '../../src/p2p/limits/limits.ts'
import { type ChildProgram, startChild } from '../support/child-program.ts'
import { connect, openRoom, until } from '../support/p2p-room.ts'

const { connectionsPerSecond, handshakesPerSecond, handshakesPerAddress, handshakesTotal } =
  defaultLimits
const limits = {
  connectionsPerSecond,
  handshakesPerSecond,
  handshakesPerAddress,
  handshakesTotal,
}
const mib = 1024 * 1024

/** Bytes in use once everything that is in use no more has been collected. */
function bytesKept(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** How many attacks the swarm says it made. */
function attacksOf(swarm: ChildProgram): number {
  return Number(swarm.stdout().trim().split('\n').at(-1))
}

test('a swarm of hostile peers ends and fills nothing, and keeps no honest block from arriving', async (t) => {
  const received: string[] = []
  const room = await openRoom(t, {
    limits,
    onBlock: async (bytes, { peer }) => {
      const text = Buffer.from(bytes.subarray(0, 20)).toString('latin1')
      if (!text.startsWith('honest')) return { action: 'ignore', reason: 'not signed' }
      received.push(peer)
      return { action: 'accept', height: received.length }
    },
  })
  for (let height = 0; height < 50; height += 1) room.blocks.set(height, randomBytes(50_000))
  const honest = await openRoom(t)
  await connect(room, honest)
  const publish = async (): Promise<void> => {
    const before = received.length
    await honest.p2p.publish(Buffer.concat([Buffer.from('honest'), randomBytes(100_000)]))
    await until(() => received.length === before + 1)
  }
  await publish()
  const keptBefore = bytesKept()

  const swarm = startChild('test/p2p/support/hostile-swarm.ts', {
    args: [room.address, '10', '10'],
  })
  t.after(() => swarm.process.kill('SIGKILL'))
  while (attacksOf(swarm) < 150) {
    const attacks = attacksOf(swarm)
    await publish()
    await until(() => attacksOf(swarm) > attacks || swarm.process.exitCode !== null)
    assert.equal(swarm.process.exitCode, null, swarm.stderr())
  }

  assert.deepEqual([...new Set(received)], [honest.id])
  const peers = room.p2p.peers()
  assert(peers.length <= 81, `${peers.length} peers, of which 80 may be strangers`)
  assert.deepEqual(
    peers.filter(({ bootstrap }) => bootstrap).map(({ id, score }) => [id, score]),
    [[honest.id, 0]],
  )
  const kept = (bytesKept() - keptBefore) / mib
  assert(kept < 100, `${kept} MiB are kept, under attack`)
  assert.deepEqual(room.captured.messages('error'), [])
})
