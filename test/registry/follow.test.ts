/** Following the registry chain, with the development registry in its place: nothing that is registered is missed. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { openDevelopmentRegistry } from '../../src/devnet/registry/development-registry.ts'
import { createCatalogue } from '../../src/host/registry/catalogue.ts'
import { isListed } from '../../src/registry/listed-view.ts'
import { registrationQueries } from '../../src/registry/tx-events.ts'
import { metricValue } from '../support/metric-value.ts'
import { until } from '../support/p2p-room.ts'
import { follow, openComet, openLcdBefore, sender, wireOf } from './support/followed.ts'

test('Views that were registered before are listed, later ones arrive live', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const before = await registry.register(sender, wireOf('Before'))
  await registry.settle({ registered: [before] })
  const { follower, arrived, sent, lines, metrics } = follow(t, registry)
  await arrived(before)
  await lines.line('registry chain followed')
  const later = await registry.register(sender, wireOf('Later'))
  const pending = await registry.register(sender, wireOf('Pending'))
  await registry.settle({ registered: [later], failed: [pending] })
  await arrived(later)
  await until(() => sent.includes(later))
  assert.deepEqual(sent, [later])
  assert.equal(follower.state().stream, 'live')
  assert.equal(follower.state().listFailure, null)
  const found = await follower.fetch(later)
  assert.ok(found !== null && isListed(found))
  // The height of its registration, not of the acknowledgement that reported it.
  assert.equal(found.registeredAt, 3)
  assert.equal(await follower.fetch(pending), null)
  const opened = { result: 'opened' }
  assert.equal(await metricValue(metrics, 'viewmesh_registry_connections_total', opened), 1)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_events_total', { outcome: 'read' }), 1)
})

test('what is registered while the chain is away is found when it is back', async (t) => {
  let registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  const ports = {
    lcdPort: Number(new URL(registry.lcdUrl).port),
    cometPort: Number(new URL(registry.cometUrl).port),
  }
  const { follower, arrived, lines, metrics } = follow(t, registry)
  await lines.line('registry chain followed')
  // That of the start, and that of the subscription.
  await until(async () => (await metricValue(metrics, 'viewmesh_registry_lists_total')) === 2)
  await registry.close()
  await lines.line('connection to the registry chain lost')
  // A list is wanted then, whenever the timer would ask for one.
  await until(() => follower.state().listFailure !== null)
  registry = await openDevelopmentRegistry({ ...ports, acknowledgeMs: null })
  t.after(() => registry.close())
  const missed = await Promise.all(
    ['A', 'B', 'C'].map((name) => registry.register(sender, wireOf(name))),
  )
  await registry.settle({ registered: missed })
  await arrived(...missed)
  await lines.line('registry chain followed', 2)
  assert.equal(follower.state().stream, 'live')
  const connections = ['opened', 'lost'].map((result) =>
    metricValue(metrics, 'viewmesh_registry_connections_total', { result }),
  )
  assert.deepEqual(await Promise.all(connections), [2, 1])
})

test('without a consensus RPC new Views are found by the timer', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const { follower, arrived } = follow(t, { ...registry, cometUrl: null }, 20)
  const view = await registry.register(sender, wireOf('Timed'))
  await registry.settle({ registered: [view] })
  await arrived(view)
  assert.equal(follower.state().stream, 'off')
})

test('a subscription that misses a View is noticed by a list, and opened again', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const silent = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => silent.close())
  const urls = { lcdUrl: registry.lcdUrl, cometUrl: silent.cometUrl }
  const { arrived, lines, metrics } = follow(t, urls, 20)
  await lines.line('registry chain followed')
  // Lists of the subscription have to be there before.
  await until(async () => (await metricValue(metrics, 'viewmesh_registry_lists_total')) >= 3)
  const view = await registry.register(sender, wireOf('Missed'))
  await registry.settle({ registered: [view] })
  await arrived(view)
  await lines.line('the subscription to the registry chain missed Views')
  await lines.line('registry chain followed', 2)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_missed_views_total'), 1)
})

test('a View that an event reported is missed by no list that has it afterwards', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const { lcd, url } = await openLcdBefore(t, registry.lcdUrl)
  const { lines, metrics, sent } = follow(t, { lcdUrl: url, cometUrl: registry.cometUrl }, 20)
  const lists = () => metricValue(metrics, 'viewmesh_registry_lists_total', { result: 'whole' })
  await lines.line('registry chain followed')
  const subscribed = await lists()
  await until(async () => (await lists()) > subscribed)
  const { promise, resolve } = Promise.withResolvers<void>()
  lcd.gate = promise
  await until(() => lcd.waiting === 1)
  const view = await registry.register(sender, wireOf('Told'))
  await registry.settle({ registered: [view] })
  await until(() => sent.includes(view))
  const before = await lists()
  resolve()
  await until(async () => (await lists()) > before + 1)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_missed_views_total'), 0)
})

test('a View that came after a subscription was lost is not missed by that one', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const comet = await openDevelopmentRegistry({ acknowledgeMs: null })
  const { lcd, url } = await openLcdBefore(t, registry.lcdUrl)
  const { arrived, lines, metrics } = follow(t, { lcdUrl: url, cometUrl: comet.cometUrl }, 20)
  const lists = () => metricValue(metrics, 'viewmesh_registry_lists_total', { result: 'whole' })
  await lines.line('registry chain followed')
  await until(async () => (await lists()) >= 3)
  const { promise, resolve } = Promise.withResolvers<void>()
  lcd.gate = promise
  await until(() => lcd.waiting === 1)
  await comet.close()
  await lines.line('connection to the registry chain lost')
  const view = await registry.register(sender, wireOf('Later'))
  await registry.settle({ registered: [view] })
  const before = await lists()
  resolve()
  await arrived(view)
  await until(async () => (await lists()) > before)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_missed_views_total'), 0)
})

test('an event that arrives for each of the subscriptions causes one View', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const { subscribed, cometUrl } = await openComet(t)
  const { lines, sent, metrics } = follow(t, { lcdUrl: registry.lcdUrl, cometUrl })
  await lines.line('registry chain followed')
  assert.equal(subscribed.length, registrationQueries.length)
  const lists = () => metricValue(metrics, 'viewmesh_registry_lists_total')
  await until(async () => (await lists()) === 2)
  for (const name of ['First', 'Second']) {
    const view = await registry.register(sender, wireOf(name))
    await registry.settle({ registered: [view] })
    const attributes = [
      { key: 'address', value: view },
      { key: 'creator', value: sender },
    ]
    const events = [{ type: 'view.view_registered', attributes }]
    const result = { data: { value: { TxResult: { height: '9', result: { events } } } } }
    for (const { id, socket } of subscribed)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
    // What arrived for the first one thrice would be there before the second one.
    await until(() => sent.includes(view))
    assert.equal(sent.at(-1), view)
  }
  assert.equal(sent.length, 2)
  assert.equal(await lists(), 2, 'no list is needed for what an event has reported')
  assert.equal(await metricValue(metrics, 'viewmesh_registry_events_total', { outcome: 'read' }), 2)
})

test('a View that came while a subscription was opened again is not missed by that one', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  let comet = await openDevelopmentRegistry({ acknowledgeMs: null })
  const { lcd, url } = await openLcdBefore(t, registry.lcdUrl)
  const { arrived, lines, metrics } = follow(t, { lcdUrl: url, cometUrl: comet.cometUrl }, 20)
  const lists = (result: string) =>
    metricValue(metrics, 'viewmesh_registry_lists_total', { result })
  await lines.line('registry chain followed')
  await until(async () => (await lists('whole')) >= 3)
  lcd.status = 500
  await until(async () => (await lists('failed')) >= 1)
  await comet.close()
  await lines.line('connection to the registry chain lost')
  const view = await registry.register(sender, wireOf('Meanwhile'))
  await registry.settle({ registered: [view] })
  comet = await openDevelopmentRegistry({
    cometPort: Number(new URL(comet.cometUrl).port),
    acknowledgeMs: null,
  })
  t.after(() => comet.close())
  await lines.line('registry chain followed', 2)
  lcd.status = 200
  await arrived(view)
  const before = await lists('whole')
  await until(async () => (await lists('whole')) > before)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_missed_views_total'), 0)
  assert.deepEqual(lines.messages('warn'), ['connection to the registry chain lost'])
})

test('a list that fails is asked for again long before the next one is due', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const { lcd, url } = await openLcdBefore(t, registry.lcdUrl)
  lcd.status = 500
  const { follower, metrics } = follow(t, { lcdUrl: url, cometUrl: null })
  await until(() => lcd.requests === 3)
  lcd.status = 200
  await until(() => follower.state().listedAtMs !== null)
  assert.equal(follower.state().listFailure, null)
  const failed = { result: 'failed' }
  assert.ok((await metricValue(metrics, 'viewmesh_registry_lists_total', failed)) >= 2)
})

test('a chain that asks for time is not listed again before that', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  await registry.close()
  const { lcd, url } = await openLcdBefore(t, registry.lcdUrl)
  lcd.status = 429
  const { follower, metrics } = follow(t, { lcdUrl: url, cometUrl: registry.cometUrl })
  await until(() => follower.state().listFailure !== null)
  assert.equal(follower.state().listFailure?.facts['retryAfterSeconds'], 300)
  // Without the header it would be asked as often as the subscription is tried.
  const failed = { result: 'failed' }
  const tries = () => metricValue(metrics, 'viewmesh_registry_connections_total', failed)
  await until(async () => (await tries()) >= 10)
  assert.equal(lcd.requests, 1)
})

test('what ends as it is closed is no failure of the chain', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const { lcd, url } = await openLcdBefore(t, registry.lcdUrl)
  lcd.status = null
  const { follower, metrics, lines } = follow(t, { lcdUrl: url, cometUrl: registry.cometUrl })
  await lines.line('registry chain followed')
  await until(() => lcd.requests === 1)
  await follower.close()
  const { listFailure, streamFailure, listed } = follower.state()
  assert.deepEqual([listFailure, streamFailure, listed], [null, null, 0])
  assert.equal(await metricValue(metrics, 'viewmesh_registry_lists_total'), 0)
  assert.deepEqual(lines.messages('warn'), [])
})

test('many Views that nobody remembers are missed by no subscription', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const views = Array.from({ length: 4_500 }, (_, index) => ({
    ...{ address: `0x${String(index).padStart(40, '0')}`, creator: sender, name: 'V' },
    height: String(index + 1),
  }))
  const lists = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://lcd')
    const start = Number(atob(searchParams.get('pagination.key') ?? '') || 0)
    const end = start + Number(searchParams.get('pagination.limit'))
    const next_key = end < views.length ? btoa(String(end)) : null
    response.end(JSON.stringify({ views: views.slice(start, end), pagination: { next_key } }))
  })
  await once(lists.listen(0, '127.0.0.1'), 'listening')
  t.after(() => lists.close())
  const lcdUrl = `http://127.0.0.1:${(lists.address() as AddressInfo).port}`
  const { follower, lines, metrics } = follow(
    t,
    { lcdUrl, cometUrl: registry.cometUrl },
    20,
    createCatalogue(() => 1).add,
  )
  await lines.line('registry chain followed')
  const whole = { result: 'whole' }
  await until(async () => (await metricValue(metrics, 'viewmesh_registry_lists_total', whole)) >= 5)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_missed_views_total'), 0)
  const opened = { result: 'opened' }
  assert.equal(await metricValue(metrics, 'viewmesh_registry_connections_total', opened), 1)
  const { listed, listedAtMs } = follower.state()
  assert.equal(listed, views.length)
  assert.ok(listedAtMs !== null && listedAtMs <= Date.now())
})

test('what cannot be a View is refused, in a list and in an event, and the others are taken', async (t) => {
  const rowOf = (digit: string, creator: string) => ({
    ...{ address: `0x${digit.repeat(40)}`, creator, name: 'V' },
    height: '1',
  })
  const views = [rowOf('1', 'nobody'), rowOf('2', sender)]
  const lists = createServer((_, response) => response.end(JSON.stringify({ views })))
  await once(lists.listen(0, '127.0.0.1'), 'listening')
  t.after(() => lists.close())
  const lcdUrl = `http://127.0.0.1:${(lists.address() as AddressInfo).port}`
  const { subscribed, cometUrl } = await openComet(t)
  const { arrived, lines, refused, metrics, ended } = follow(t, { lcdUrl, cometUrl })
  const count = () => metricValue(metrics, 'viewmesh_registry_lists_total')
  await arrived(rowOf('2', sender).address)
  await lines.line('registry chain followed')
  await until(async () => (await count()) === 2)
  const reason = 'its creator is not an account'
  const fromList = { id: rowOf('1', '').address, reason }
  assert.deepEqual(refused, [fromList, fromList])
  const eventOf = (digit: string) => ({
    type: 'view.view_registered',
    attributes: Object.entries(rowOf(digit, 'nobody')).map(([key, value]) => ({ key, value })),
  })
  // More than are read of one message are left to a list, which does not miss them.
  views.push(rowOf('5', sender))
  for (const events of [[eventOf('3')], Array.from({ length: 257 }, () => eventOf('4'))]) {
    const result = { data: { value: { TxResult: { height: '9', result: { events } } } } }
    const [{ id, socket } = assert.fail('nobody subscribed')] = subscribed
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
  }
  await until(async () => (await count()) === 3)
  const fromEvents = refused.filter(({ id }) => id !== fromList.id)
  assert.deepEqual(fromEvents[0], { id: rowOf('3', '').address, reason })
  assert.equal(fromEvents.length, 1 + 256)
  await arrived(rowOf('5', '').address)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_missed_views_total'), 0)
  assert.equal(ended(), 3, 'each list ends once')
})

test('a chain that is nowhere is a failure that the state says, and closing ends all attempts', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  await registry.close()
  const { follower, ended } = follow(t, registry)
  await until(() => follower.state().listFailure !== null)
  await until(() => follower.state().streamFailure !== null)
  assert.ok(ended() > 0)
  const { listFailure, streamFailure, stream, listedAtMs } = follower.state()
  assert.deepEqual(
    [listFailure?.code, streamFailure?.code, stream, listedAtMs],
    ['REGISTRY_UNREACHABLE', 'REGISTRY_UNREACHABLE', 'connecting', null],
  )
  await follower.close()
})
