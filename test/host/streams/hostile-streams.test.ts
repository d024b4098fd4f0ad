/** Lenses that do what they can against who queries them: that query fails, and nothing else does. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { HostedView } from '../../../src/host/views/hosted-view.ts'
import { at, buildLens, byteOfItem, item, op } from '../../lens/support/lens.ts'
import { engineChain, hostedView } from '../views/engine/support/engine-room.ts'
import { openStreamRoom } from './support/stream-room.ts'

type LensParts = Parameters<typeof buildLens>[0]

const sdl = (name: string, materialized = false): string =>
  `type ${name} @materialized(if: ${materialized}) { address: String logIndex: Int }`
const good = hostedView({ lenses: [buildLens()], sdl: sdl('Good') })
const hostile = (parts: LensParts, copies = 1): HostedView => {
  const lenses = Array.from({ length: copies }, () => buildLens(parts))
  return hostedView({ lenses, args: '{"a":1}', sdl: sdl('Hostile'), slot: 2 })
}
const oneRow = item(1, '{"logIndex":1}')
/** Its arguments are written behind the text that it returns. */
const large: LensParts = {
  pages: [2, 1_024],
  alloc: op.const(65_536),
  transform: op.const(at.text),
  text: item(1, JSON.stringify({ address: 'x'.repeat(60_000) })),
}

/** Comes to no end with a JSON object, but with the end of the stream. */
const endlessWithDocument = [
  ...op.callNext,
  ...op.set(0),
  ...byteOfItem(5),
  ...op.const(0x7b),
  ...op.equal,
  ...op.when(op.forever()),
  ...op.get(0),
]
const grow = [...op.const(1_000), ...op.memoryGrow, ...op.drop, ...op.callNext]

/** A chain of four blocks and Views over it. */
async function openRoom(t: TestContext, options: Parameters<typeof openStreamRoom>[1] = {}) {
  const opened = await openStreamRoom(t, options)
  await opened.room.put(engineChain(4))
  return opened
}

describe('a lens', () => {
  const cases: readonly [string, LensParts, string, RegExp, maxMs?: number][] = [
    [
      'that traps',
      { transform: op.unreachable },
      'GRAPHQL_VIEW_FAILED',
      /^The View Hostile failed( at block 100)?: lens 1 trapped in transform: unreachable\. /,
    ],
    [
      'that traps at its second document',
      {
        transform: [
          ...op.getGlobal(1),
          ...op.when(op.unreachable),
          ...op.const(1),
          ...op.setGlobal(1),
          ...op.callNext,
        ],
      },
      'GRAPHQL_VIEW_FAILED',
      /^The View Hostile failed at block 100: lens 1 trapped/,
    ],
    [
      'that returns an address outside of its memory',
      { transform: op.const(-8) },
      'GRAPHQL_VIEW_FAILED',
      /^The View Hostile failed.*lens 1 returns the address/,
    ],
    [
      'that is without end',
      { transform: endlessWithDocument },
      'GRAPHQL_VIEW_LIMIT',
      /^The View Hostile was stopped at block 100: it takes more than \d+ ms, at last in lens 1\. Ask for fewer blocks/,
      8_000,
    ],
    [
      'that is without end before it takes any document',
      { transform: [...op.forever(), ...op.const(0)] },
      'GRAPHQL_VIEW_LIMIT',
      /^The View Hostile was stopped: it takes more than \d+ ms, at last in lens 1\. Ask for fewer blocks/,
      8_000,
    ],
    [
      'that is without end at its start',
      { start: op.forever() },
      'GRAPHQL_VIEW_LIMIT',
      /^The View Hostile was stopped: it takes more than \d+ ms, at last in lens 1\. Ask for fewer blocks/,
      8_000,
    ],
    [
      'that takes all memory',
      { pages: [1, 1_024], transform: grow },
      'GRAPHQL_VIEW_LIMIT',
      /^The View Hostile was stopped.*the lenses grow to more than 134217728 bytes/,
    ],
    [
      'that returns rows without end',
      { transform: op.const(at.text), text: oneRow },
      'GRAPHQL_VIEW_LIMIT',
      /^The View Hostile was stopped: lens 1 returns too much: more than 200000 rows for one query\. Ask/,
    ],
    [
      'that returns large rows without end',
      large,
      'GRAPHQL_VIEW_LIMIT',
      /^The View Hostile was stopped.*lens 1 returns too much: rows of more than 67108864 bytes/,
    ],
  ]
  for (const [what, parts, code, message, maxMs = 110_000] of cases)
    test(`${what} fails its query with ${code}, and others go on`, async (t) => {
      const { serve, refusal, query, ended } = await openRoom(t)
      serve(good, hostile(parts, parts?.transform === grow ? 3 : 1))
      const [failure, rows] = await Promise.all([
        refusal('{ COUNT(Hostile: {}) }', { maxMs }),
        query('{ Good { address } }'),
      ])
      assert.deepEqual([failure[1], message.test(failure[0])], [code, true], failure[0])
      assert.equal(rows.Good.length, 12)
      assert.equal((await query('{ COUNT(Good: {}) }')).COUNT, 12)
      assert.equal(await ended('done'), 2)
      assert.equal(await ended('failed'), code === 'GRAPHQL_VIEW_FAILED' ? 1 : 0)
    })
})

test('a process that takes too much memory is ended with its query alone', async (t) => {
  const { room, serve, refusal, query, warnings } = await openRoom(t, {
    memoryBytes: 64 * 1024 * 1024,
  })
  const kept = hostedView({ lenses: [buildLens()], sdl: sdl('Kept', true), slot: 3 })
  serve(good, kept)
  await room.until(kept, ({ name }) => name === 'live')
  const [message, code] = await refusal('{ Good { address } }')
  assert.equal(code, 'GRAPHQL_VIEW_LIMIT', message)
  assert.match(message, /^The View Good was stopped: the lens process took more than \d+ bytes/)
  assert.equal((await query('{ COUNT(Kept: {}) }')).COUNT, 12)
  assert.equal(warnings.length, 1)
})

describe('a query', () => {
  const endless = hostile({ transform: [...op.forever(), ...op.const(0)] })

  test('waits for its turn, and is refused where that takes too long', async (t) => {
    const { serve, refusal, execute, running, query } = await openRoom(t, { maxWaitMs: 50 })
    serve(good, endless)
    const controller = new AbortController()
    const busy = [1, 2].map(() => execute('{ Hostile { address } }', controller.signal))
    while ((await running()) < 2) await setImmediate()
    const [message, code] = await refusal('{ Good { address } }')
    assert.equal(code, 'GRAPHQL_VIEW_BUSY')
    assert.match(message, /^The View Good: 2 queries compute Views.*waited 50 ms\. Ask again/)
    controller.abort()
    for (const { errors } of await Promise.all(busy))
      assert.equal(errors?.[0]?.extensions['code'], 'GRAPHQL_ABORTED')
    assert.equal((await query('{ COUNT(Good: {}) }')).COUNT, 12)
  })

  test('gets its turn when another one is over', async (t) => {
    const { serve, execute, running, query } = await openRoom(t)
    serve(good, endless)
    const controllers = [new AbortController(), new AbortController()]
    const busy = controllers.map(({ signal }) => execute('{ Hostile { address } }', signal))
    while ((await running()) < 2) await setImmediate()
    const waiting = query('{ COUNT(Good: {}) }')
    controllers[0]?.abort()
    assert.equal((await waiting).COUNT, 12)
    controllers[1]?.abort()
    await Promise.all(busy)
  })

  test('whose client goes away leaves nothing that runs or is held', async (t) => {
    const { serve, execute, running, ended, graphql } = await openRoom(t)
    serve(endless)
    const controller = new AbortController()
    const asked = execute('{ Hostile { address } }', controller.signal)
    while ((await running()) < 1) await setImmediate()
    controller.abort()
    assert.equal((await asked).errors?.[0]?.extensions['code'], 'GRAPHQL_ABORTED')
    while ((await running()) > 0) await setImmediate()
    assert.equal(await ended('stopped'), 1)
    assert.equal(graphql.memory.heldBytes(), 0)
  })

  test('with a limit stops the lenses when it has its rows', async (t) => {
    const { serve, query, running, ended, graphql } = await openRoom(t)
    const rows = hostile({ transform: op.const(at.text), text: oneRow })
    serve(good, rows)
    const { Hostile } = await query('{ Hostile(limit: 3) { logIndex } }')
    assert.deepEqual(Hostile, [{ logIndex: 1 }, { logIndex: 1 }, { logIndex: 1 }])
    while ((await running()) > 0) await setImmediate()
    assert.equal(await ended('stopped'), 1)
    assert.equal(graphql.memory.heldBytes(), 0)
    assert.equal((await query('{ COUNT(Good: {}) }')).COUNT, 12, 'its process reads on')
  })
})
