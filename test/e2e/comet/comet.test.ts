/** The subscription to the registry chain against a real CometBFT: its query grammar, its messages, its end. */
import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import { openDevelopmentRegistry } from '../../../src/devnet/registry/development-registry.ts'
import { openCometSocket } from '../../../src/registry/comet-socket.ts'
import { followRegistry } from '../../../src/registry/follow.ts'
import { createRegistryMetrics } from '../../../src/registry/metrics.ts'
import { findRegistrationFailure } from '../../../src/registry/registration-failure.ts'
import { readTxEvents, registrationQueries } from '../../../src/registry/tx-events.ts'
import { captureLog } from '../../support/captured-log.ts'
import { until } from '../../support/p2p-room.ts'
import { first } from '../../views/vectors.ts'
import { type CometNode, createCometNode, findCometBft } from './comet-node.ts'

const transactions = "tm.event='Tx' AND app.key EXISTS"
const timeoutMs = 10_000
/** Less than the node takes for a block, so that only its answers to our own questions keep a connection. */
const silentMs = 600

/** The key of the `app` event and the height of what arrived. */
function keyOf(message: unknown): { key: unknown; height: number | null } {
  const { events } = message as { events?: Readonly<Record<string, readonly string[]>> }
  return { key: events?.['app.key']?.[0], height: readTxEvents(message).height }
}

describe('the registry client with a real CometBFT', () => {
  let node: CometNode | null = null
  let missing = ''

  before(async () => {
    const found = await findCometBft()
    if ('missing' in found) {
      missing = found.missing
      process.stderr.write(`\n!! ${missing}\n`)
      return
    }
    node = await createCometNode(found.path)
    await node.start()
  })
  after(async () => await node?.close())

  function cometTest(name: string, body: (t: TestContext, node: CometNode) => Promise<void>): void {
    test(name, async (t) => (node === null ? t.skip(missing) : await body(t, node)))
  }

  async function subscribe(t: TestContext, { url }: CometNode, queries: readonly string[]) {
    const received: ReturnType<typeof keyOf>[] = []
    const socket = await openCometSocket(
      { url, queries, timeoutMs, silentMs },
      (message) => received.push(keyOf(message)),
      t.signal,
    )
    t.after(() => socket.close())
    return { socket, received }
  }

  cometTest('it takes the subscriptions of all generations, and no sixth one', async (t, comet) => {
    await subscribe(t, comet, registrationQueries)
    const six = [1, 2, 3, 4, 5, 6].map((height) => `${transactions} AND tx.height > ${height}`)
    await assert.rejects(subscribe(t, comet, six), { code: 'REGISTRY_REFUSED' })
    await assert.rejects(subscribe(t, comet, ['view.view_registered']), {
      code: 'REGISTRY_REFUSED',
      facts: { endpoint: new URL(comet.url).host, rpcCode: -32603 },
    })
  })

  cometTest('transactions arrive in the order of the chain, each once', async (t, comet) => {
    const { received } = await subscribe(t, comet, [...registrationQueries, transactions])
    // Of the size of the largest View as base64, which the chain's own messages repeat.
    const keys = ['first', 'x'.repeat(512 * 1024), 'last']
    for (const [index, key] of keys.entries()) {
      await comet.broadcast(key)
      await until(() => received.length > index)
    }
    assert.deepEqual(
      received.map(({ key }) => key),
      keys,
    )
    const heights = received.map(({ height }) => Number(height))
    assert.deepEqual(
      heights,
      heights.toSorted((one, other) => one - other),
    )
    assert.ok(heights.every((height) => height > 0))
  })

  cometTest('it is searched for the failure of a registration, and has none', async (t, comet) => {
    await comet.broadcast('something to index')
    assert.equal(await findRegistrationFailure(comet.url, first.address, t.signal), null)
    await assert.rejects(findRegistrationFailure(comet.url, "' AND", t.signal), {
      code: 'REGISTRY_REFUSED',
    })
  })

  cometTest('a node that is killed is followed again as soon as it is back', async (t, comet) => {
    const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
    t.after(() => registry.close())
    const { log, line } = captureLog()
    const nothing = (): void => undefined
    const follower = followRegistry(
      {
        lcdUrl: registry.lcdUrl,
        rpcUrl: comet.url,
        timings: { timeoutMs, retry: { minMs: 10, maxMs: 100 } },
      },
      {
        ...{ log, metrics: createRegistryMetrics(new Registry()) },
        ...{ onListed: nothing, onListEnd: nothing, onSent: nothing, onRefused: nothing },
      },
    )
    t.after(() => follower.close())
    await line('registry chain followed')
    const { closed } = (await subscribe(t, comet, [transactions])).socket
    await comet.kill()
    assert.match(await closed, /./)
    await line('connection to the registry chain lost')
    await until(() => follower.state().streamFailure !== null)
    const { stream, streamFailure } = follower.state()
    assert.deepEqual([stream, streamFailure?.code], ['connecting', 'REGISTRY_UNREACHABLE'])
    await comet.start()
    await line('registry chain followed', 2)
    assert.equal(follower.state().stream, 'live')
    const { received } = await subscribe(t, comet, [transactions])
    await comet.broadcast('after the restart')
    await until(() => received.length > 0)
    assert.equal(received[0]?.key, 'after the restart')
  })
})
