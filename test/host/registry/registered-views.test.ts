/** Registered Views on a whole Host, with the development registry in the place of the registry chain. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { zstdCompressSync } from 'node:zlib'
import { openDevelopmentRegistry } from '../../../src/devnet/registry/development-registry.ts'
import { viewIDs } from '../../../src/views/view-id.ts'
import { decodeView, encodeView } from '../../../src/views/wire.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { until } from '../../support/p2p-room.ts'
import {
  author,
  byHand,
  development,
  folder,
  openHost,
  register,
  stranger,
  wireOf,
} from './support/registry-host.ts'

/**
 * Service page: "The registry chain's LCD endpoint is queried by Hosts at startup for all previously registered Views",
 * "On a new registration, each Host downloads the View bundle, loads the WebAssembly lens and starts transforming data
 * automatically, with no restart", "Host clients subscribe over a WebSocket connection to the registry chain's consensus engine
 * for View registration events", "Registered Views can appear before any data arrives if no Generator client is connected".
 */
test('registered Views are served from the start, and later ones without a restart', async (t) => {
  const registry = await development(t)
  const [before = ''] = await register(registry, ['Before'])
  const host = await openHost(t, await folder(t), registry)
  await host.serves('Before')
  await until(async () => (await host.list()).registry?.state === 'live')
  const [later = ''] = await register(registry, ['Later'])
  await host.serves('Before', 'Later')
  const { views } = await host.list()
  assert.deepEqual(
    views.map(({ address, state }) => [address, state]),
    [
      [before, 'waiting'],
      [later, 'waiting'],
    ],
  )
  const [first = 0, second = 0] = views.map(({ registered_at: height }) => height)
  assert.ok(0 < first && first < second)
  const { report } = await host.health()
  assert.deepEqual(report.registry, {
    state: 'live',
    last_listed: report.registry?.last_listed,
    listed: report.registry?.listed,
    ...{ served: 2, over_limit: 0, denied: 0, refused: 0, foreign: 0 },
  })
})

test('a registered View cannot be deleted, but denied, without a restart', async (t) => {
  const registry = await development(t)
  const [address = ''] = await register(registry, ['Permanent'])
  const home = await folder(t)
  const deny = join(home, 'deny')
  await writeFile(deny, '# nobody\n')
  const host = await openHost(t, home, registry, { REGISTRY_DENY_FILE: deny })
  await host.serves('Permanent')
  const refused = await host.remove(address)
  assert.equal(refused.status, 409)
  const body = (await refused.json()) as { code: string; remedy: string }
  assert.equal(body.code, 'HOST_VIEW_REGISTERED')
  assert.match(body.remedy, /REGISTRY_DENY/)
  await writeFile(deny, `${address}\n`)
  await host.serves()
  await until(async () => (await host.list()).registry?.others.length === 1)
  const { registered_at: height, ...other } = await host.find(address)
  const ids = viewIDs(author, wireOf('Permanent'))
  const shown = { ...ids, type: 'Permanent', creator: author, state: 'denied', reason: null }
  assert.deepEqual(other, shown)
  assert.ok(Number(height) > 0)
})

/**
 * Service page: "Registered Views are permanent and cannot be changed in place. Deploying changed content under the same
 * name gives a new View ID (derived from sender and wire bytes), and Hosts register it as a separate View"; its states: "View
 * (registered on chain)", moved by "deploy with same name and changed content", to "separate View registered".
 */
test('changed content under the same name is a View of its own beside the first one', async (t) => {
  const registry = await development(t)
  const wires = ['address', 'data'].map((field) =>
    wireOf('Same', { query: `Log { ${field} }`, sdl: `type Same { ${field}: String }` }),
  )
  const addresses: string[] = []
  for (const wire of wires) addresses.push(await registry.register(author, wire))
  await registry.settle({ registered: addresses })
  const host = await openHost(t, await folder(t), registry)
  await until(async () => (await host.list()).views.length === 2)
  const { views } = await host.list()
  const ids = wires.map((wire) => viewIDs(author, wire).id)
  const [first = '', second = ''] = ids
  assert.deepEqual(
    views.map(({ id, name }) => [id, name]),
    [
      [first, 'Same'],
      [second, `Same_${second.slice(2, 10)}`],
    ],
  )
  for (const id of ids) assert.equal((await host.remove(id)).status, 409)
})

test('a View that is denied by the ID that the chain does not list is never served', async (t) => {
  const registry = await development(t)
  const [address = ''] = await register(registry, ['Denied', 'Good'])
  const { id } = viewIDs(author, wireOf('Denied'))
  const host = await openHost(t, await folder(t), registry, { REGISTRY_DENY: id })
  await host.serves('Good')
  await until(async () => (await host.list()).registry?.others[0]?.state === 'denied')
  const { type, reason } = await host.find(address)
  assert.deepEqual([type, reason], ['Denied', null])
  assert.ok(
    !host.captured.lines.some((line) => line['msg'] === 'View registered' && line['view'] === id),
  )
})

test('while the file of what is denied cannot be read, no registered View is added', async (t) => {
  const registry = await development(t)
  await register(registry, ['Denied'])
  const home = await folder(t)
  const deny = join(home, 'deny')
  const host = await openHost(t, home, registry, { REGISTRY_DENY_FILE: deny })
  await until(async () => (await host.list()).registry?.state === 'live')
  const { report } = await host.health()
  const unread = report.errors.find(({ code }) => code === 'HOST_REGISTRY_DENY_UNREAD')
  assert.ok(unread)
  assertExplained(unread)
  assert.deepEqual(await host.names(), [])
  // A list with a line that cannot be read is not applied half.
  await writeFile(deny, 'Another\nno entry\n')
  await until(async () => {
    const { errors } = (await host.health()).report
    return errors.some(({ message }) => message.includes('(line 2 cannot be read)'))
  })
  assert.deepEqual(await host.names(), [])
  await writeFile(deny, 'Denied\n')
  await until(async () => (await host.list()).registry?.others[0]?.state === 'denied')
  await writeFile(deny, '')
  await host.serves('Denied')
})

test('while the registry chain is away, the state says so at once, and what was served stays', async (t) => {
  const registry = await openDevelopmentRegistry(byHand)
  await register(registry, ['Kept'])
  const host = await openHost(t, await folder(t), registry)
  await host.serves('Kept')
  await until(async () => (await host.list()).registry?.state === 'live')
  await registry.close()
  await until(async () => (await host.list()).registry?.state === 'away')
  assert.deepEqual(await host.names(), ['Kept'])
})

test('without a consensus RPC the registry chain is polled, once it has listed its Views', async (t) => {
  const registry = await development(t)
  await register(registry, ['Listed'])
  const listing = Promise.withResolvers<void>()
  const gate = createServer(async (request, response) => {
    await listing.promise
    const answer = await fetch(`${registry.lcdUrl}${request.url}`)
    response.writeHead(answer.status).end(await answer.text())
  })
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    gate.close()
    gate.closeAllConnections()
  })
  const lcdUrl = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`
  const host = await openHost(t, await folder(t), { lcdUrl, cometUrl: '' })
  const state = async (): Promise<string | undefined> => (await host.list()).registry?.state
  assert.equal(await state(), 'connecting')
  assert.equal((await host.post('Own')).status, 201)
  listing.resolve()
  await host.serves('Listed', 'Own')
  await until(async () => (await state()) === 'polling')
  assert.equal((await host.health()).report.registry?.served, 1)
})

test('local Views come first, then allowed ones, then the lowest heights; others are listed', async (t) => {
  const registry = await development(t)
  const [, second = ''] = await register(registry, ['First', 'Second', 'Third'])
  await register(registry, ['Allowed'], stranger)
  const host = await openHost(t, await folder(t), registry, {
    MAX_VIEWS: '2',
    REGISTRY_ALLOW: stranger,
  })
  await host.serves('Allowed', 'First')
  await until(async () => (await host.list()).registry?.others.length === 2)
  assert.equal((await host.find(second))['state'], 'overLimit')
  assert.equal((await host.post('Mine')).status, 201)
  await host.serves('Allowed', 'Mine')
  assert.equal((await host.post('Mine2')).status, 201)
  await host.serves('Mine', 'Mine2')
  assert.equal((await host.post('Mine3')).status, 409)
})

test('hundreds of wide Views of a stranger keep neither local nor allowed ones from being served', async (t) => {
  const registry = await development(t)
  const fields = Array.from({ length: 256 }, (_, index) => `f${index}: Int`).join(' ')
  const wide = (name: string) => wireOf(name, { sdl: `type ${name} { ${fields} }` })
  const widely = async (names: readonly string[], sender: string) => {
    const registered: string[] = []
    for (const name of names) registered.push(await registry.register(sender, wide(name)))
    await registry.settle({ registered })
    return registered
  }
  const strangers = Array.from({ length: 200 }, (_, index) => `Wide${index}`)
  await widely(strangers, stranger)
  const host = await openHost(t, await folder(t), registry, { REGISTRY_ALLOW: author })
  const overLimit = async () =>
    (await host.list()).registry?.others.filter(({ state }) => state === 'overLimit').length
  // The 19 that fit into 5,000 fields.
  await until(async () => (await overLimit()) === strangers.length - 19)
  await host.serves(...strangers.slice(0, 19))
  await until(async () => (await host.list()).registry?.state === 'live')
  await widely(['Allowed'], author)
  await host.serves('Allowed', ...strangers.slice(0, 18))
  assert.equal((await host.postWire(wide('Mine'), `0x${'00'.repeat(20)}`)).status, 201)
  await host.serves('Allowed', 'Mine', ...strangers.slice(0, 17))
})

test('a View that is posted and registered is one, and stays until nobody wants it', async (t) => {
  const registry = await development(t)
  const home = await folder(t)
  const deny = join(home, 'deny')
  await writeFile(deny, '# nobody\n')
  const host = await openHost(t, home, registry, { REGISTRY_DENY_FILE: deny })
  const wire = wireOf('Both')
  await host.postWire(wire, author)
  const [address = ''] = await register(registry, ['Both'])
  const origins = async () => (await host.find(address))['origins']
  await until(async () => String(await origins()) === 'posted,registry')
  assert.ok(Number((await host.find(address))['registered_at']) > 0)
  await writeFile(deny, 'Both\n')
  await until(async () => String(await origins()) === 'posted')
  await writeFile(deny, '# nobody again\n')
  await until(async () => String(await origins()) === 'posted,registry')
  assert.equal((await host.remove(address)).status, 204)
  assert.deepEqual(await origins(), ['registry'])
  await writeFile(deny, 'Both\n')
  await host.serves()
  const lines = host.captured.lines.filter(({ msg }) => msg === 'View registered')
  assert.equal(lines.length, 1)
})

test('what was served is served while the chain is away, and what came meanwhile afterwards', async (t) => {
  let registry = await openDevelopmentRegistry(byHand)
  const ports = {
    lcdPort: Number(new URL(registry.lcdUrl).port),
    cometPort: Number(new URL(registry.cometUrl).port),
  }
  await register(registry, ['Known'])
  const home = await folder(t)
  const first = await openHost(t, home, registry)
  await first.serves('Known')
  await first.close()
  await registry.close()
  const host = await openHost(t, home, registry)
  assert.deepEqual(await host.names(), ['Known'])
  await until(async () => (await host.health()).report.registry?.state === 'away')
  const { report, status } = await host.health()
  assert.equal(status, 200)
  assert.ok(report.errors.some(({ code }) => code === 'REGISTRY_UNREACHABLE'))
  registry = await openDevelopmentRegistry({ ...byHand, ...ports })
  t.after(() => registry.close())
  await register(registry, ['A', 'B', 'C'], stranger)
  await host.serves('Known', 'A', 'B', 'C')
})

test('what does not fit is refused with its reason, and keeps no place from others', async (t) => {
  const registry = await development(t)
  const planted = (address: string, wire: Uint8Array, name = 'Planted') =>
    registry.plant({ address, creator: author, name, height: 1, wire })
  await planted(`0x${'1'.repeat(40)}`, wireOf('Planted'))
  await planted(`0x${'2'.repeat(40)}`, new Uint8Array([1, 2, 3]))
  await planted(`0x${'3'.repeat(40)}`, wireOf('Planted'), 'no name')
  const broken = await registry.register(author, wireOf('Broken', { sdl: 'type Broken {' }))
  const foreign = await registry.register(
    author,
    wireOf('Foreign', { query: 'Arbitrum__One__Log { address }' }),
  )
  const unknown = await registry.register(author, wireOf('Unknown', { query: 'Log { nothing }' }))
  await registry.settle({ registered: [broken, foreign, unknown] })
  await register(registry, ['Good'], stranger)
  const host = await openHost(t, await folder(t), registry, { MAX_VIEWS: '1' })
  await host.serves('Good')
  await until(async () => (await host.list()).registry?.others.length === 6)
  const reasons = (await host.list()).registry?.others
    .map(({ state, reason }) => `${state} ${reason?.replace(/:.*/s, '')}`)
    .toSorted()
  assert.deepEqual(reasons, [
    'foreign it reads Arbitrum__One__Log',
    'refused REGISTRY_VIEW_MISMATCH',
    'refused REGISTRY_VIEW_MISMATCH',
    'refused VIEWS_QUERY_INVALID',
    'refused VIEWS_SDL_INVALID',
    'refused its name is not that of a type',
  ])
})

test('a View that the chain calls by another name than its own stands in the lists by its own', async (t) => {
  const registry = await development(t)
  const plant = async (name: string, alias: string, height: number): Promise<void> => {
    const wire = wireOf(name)
    const { address } = viewIDs(author, wire)
    await registry.plant({ address, creator: author, name: alias, height, wire })
  }
  await plant('Denied', 'Harmless', 1)
  await plant('Ordinary', 'Allowed', 3)
  await plant('Plain', 'Plain', 2)
  const host = await openHost(t, await folder(t), registry, {
    REGISTRY_DENY: 'Denied',
    REGISTRY_ALLOW: 'Allowed',
    MAX_VIEWS: '1',
  })
  await host.serves('Plain')
  await until(async () => (await host.list()).registry?.others.length === 2)
  const others = (await host.list()).registry?.others.map(({ state }) => state)
  assert.deepEqual(others?.toSorted(), ['denied', 'overLimit'])
})

test('a fetched View that is not served shows both IDs, and is found by either', async (t) => {
  const registry = await development(t)
  const wires = {
    refused: wireOf('Broken', { sdl: 'type Broken {' }),
    foreign: wireOf('Foreign', { query: 'Arbitrum__One__Log { address }' }),
    overLimit: wireOf('Once'),
  }
  const registered: string[] = []
  for (const wire of Object.values(wires)) registered.push(await registry.register(author, wire))
  await registry.settle({ registered })
  const host = await openHost(t, await folder(t), registry, { MAX_VIEWS: '1' })
  await host.serves('Once')
  assert.equal((await host.post('Mine')).status, 201)
  await until(async () => (await host.list()).registry?.others.length === 3)
  for (const [state, wire] of Object.entries(wires)) {
    const { id, address } = viewIDs(author, wire)
    for (const asked of [id, address]) {
      const found = await host.find(asked)
      assert.deepEqual([found['state'], found['id'], found['address']], [state, id, address])
    }
  }
})

test('a bundle that unpacks to 256 MiB is refused, and the Host serves the next one', async (t) => {
  const registry = await development(t)
  const packed = zstdCompressSync(Buffer.alloc(256 * 1024 * 1024))
  const size = Buffer.alloc(4)
  size.writeUInt32LE(packed.length)
  const whole = decodeView(wireOf('Bomb'))
  const plain = encodeView(whole, 'none')
  // Without its codec, the length of its blob and the blob itself, which is a count of 0.
  const wire = new Uint8Array(Buffer.concat([plain.subarray(0, -7), Buffer.of(1), size, packed]))
  assert.ok(wire.length < 384 * 1024)
  const { address } = viewIDs(author, wire)
  await registry.plant({ address, creator: author, name: 'Bomb', height: 1, wire })
  await register(registry, ['Next'], stranger)
  const host = await openHost(t, await folder(t), registry)
  await host.serves('Next')
  await until(async () => (await host.list()).registry?.others.length === 1)
  const { state, reason } = await host.find(address)
  assert.equal(state, 'refused')
  assert.match(String(reason), /VIEWS_TOO_LARGE|VIEWS_WIRE_MALFORMED/)
})
