import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Registry } from 'prom-client'
import {
  openRowDisagreements,
  type RowDisagreements,
} from '../../../src/host/row-votes/row-disagreements.ts'
import type { RowStatement } from '../../../src/row-votes/row-statement.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { namedHash, opaqueBlock } from '../../support/chain/opaque-blocks.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { until } from '../../support/p2p-room.ts'
import { signedStatement } from '../../support/signed-statements.ts'
import { openTestStore } from '../../support/test-store.ts'

const signer = (host: string): ReturnType<typeof testSigner> => testSigner(`host:${host}`)
const identity = (host: string): string => signer(host).identity

type Said = Partial<{ views: readonly string[]; isFalse: boolean; runtime: number; branch: string }>

function by(host: string, height: number, { branch = 'main', ...said }: Said = {}): RowStatement {
  const { hash } = opaqueBlock(height, 50, branch).header
  return signedStatement(height, hash, { signer: signer(host), views: ['Transfers'], ...said })
}

/** One View more than are shown of one Host. */
const many = Array.from({ length: 101 }, (_, index) => `View ${index}`)

interface Room {
  readonly store: StoreWriter
  readonly registry: Registry
  readonly rows: RowDisagreements
  sign(...statements: readonly RowStatement[]): Promise<void>
  /** Messages, once there are so many. */
  messages(count: number): Promise<string[]>
}

/** Blocks from 1 on at a Host that accepts two others, and serves Transfers, Balances and many more. */
async function open(
  t: TestContext,
  statements: readonly RowStatement[] = [],
  head = 20,
): Promise<Room> {
  const store = await openTestStore(t, null)
  const heights = Array.from({ length: head }, (_, index) => index + 1)
  await Promise.all(heights.map((height) => store.putBlock(opaqueBlock(height, 50))))
  const sign = async (...signed: readonly RowStatement[]): Promise<void> => {
    for (const statement of signed)
      assert.ok(await store.putRowStatements(statement.blockNumber, [statement]))
  }
  await sign(...statements)
  const registry = new Registry()
  const served = ['Transfers', 'Balances', ...many]
  const names = new Map(served.map((name) => [namedHash(name), name]))
  const rows = openRowDisagreements(
    { own: identity('own'), intervalMs: 20 },
    {
      reader: store.reader,
      registry,
      hosts: () => ['honest', 'liar'].map(identity),
      nameOf: (view) => names.get(view) ?? null,
      onFatal: (error) => assert.ifError(error),
    },
  )
  t.after(() => rows.close())
  return {
    store,
    registry,
    rows,
    sign,
    messages: async (count) => {
      await until(() => rows.failures().length === count)
      return rows.failures().map(({ message }) => message)
    },
  }
}

test('a Host whose root differs is named with View and height, in /health and metrics', async (t) => {
  const room = await open(t, [
    ...[7, 8, 9].flatMap((height) => [by('own', height), by('honest', height)]),
    ...[7, 9].map((height) => by('liar', height, { isFalse: true })),
    by('liar', 8),
  ])
  const [message] = await room.messages(1)
  assert.equal(
    message,
    `The Host ${identity('liar')} signed other rows of the View Transfers than this one: of 2 of the newest 1024 blocks, last of block 9.`,
  )
  const [failure] = room.rows.failures()
  assert.equal(failure?.code, 'HOST_ROWS_DIFFER')
  assertExplained(failure)
  const line = `viewmesh_host_rows_differ_height{host="${identity('liar')}",view="${namedHash('Transfers')}"} 9`
  assert.ok((await room.registry.metrics()).includes(line))
})

test('several Views of one Host are one failure, and what comes later is noticed', async (t) => {
  const views = ['Transfers', 'Balances'].sort((a, b) => (namedHash(a) < namedHash(b) ? -1 : 1))
  const room = await open(t)
  assert.deepEqual(room.rows.failures(), [])
  await room.sign(by('own', 4, { views }), by('liar', 4, { views, isFalse: true }))
  const [message] = await room.messages(1)
  assert.match(
    String(message),
    /of 1 of the newest 1024 blocks, last of block 4, and of 1 more Views\.$/,
  )
})

test('two results of one Host are named as well', async (t) => {
  const room = await open(t, [by('own', 5), by('liar', 5), by('liar', 5, { isFalse: true })])
  assert.match(String(await room.messages(1)), new RegExp(identity('liar')))
})

test('the newest 1,024 blocks are compared, and those below them no longer', async (t) => {
  const heights = [1, 76, 77, 140, 141, 1_100]
  const room = await open(
    t,
    heights.flatMap((height) => [by('own', height), by('liar', height, { isFalse: true })]),
    1_100,
  )
  assert.match(
    String(await room.messages(1)),
    /: of 4 of the newest 1024 blocks, last of block 1100/,
  )
  await room.store.putBlock(opaqueBlock(1_101, 50))
  await until(async () => / of 3 of .*, last of block 1100/.test(String(await room.messages(1))))
  await room.store.truncateAbove(1_099)
  await until(async () => / of 4 of .*, last of block 141/.test(String(await room.messages(1))))
})

test('of the Views of a Host the one that differed last is named, none that is not served', async (t) => {
  const [transfers, balances] = ['Transfers', 'Balances'].map((name) => ({ views: [name] }))
  const room = await open(t, [
    ...[by('own', 9, transfers), by('liar', 9, { ...transfers, isFalse: true })],
    ...[by('own', 3, balances), by('liar', 3, { ...balances, isFalse: true })],
    ...[by('own', 12, balances), by('liar', 12, { ...balances, isFalse: true })],
    ...[by('own', 15, { views: ['Other'] }), by('liar', 15, { views: ['Other'], isFalse: true })],
  ])
  const about = / of the View Balances than this one: of 2 of .* block 12, and of 1 more Views\.$/
  assert.match(String(await room.messages(1)), about)
  await room.sign(by('own', 2, balances), by('liar', 2, { ...balances, isFalse: true }))
  const later = / of the View Balances than this one: of 3 of .* block 12, and of 1 more Views\.$/
  await until(async () => later.test(String(await room.messages(1))))
})

test('of a hundred Views of Hosts it is said in how many blocks they differ, and of no more', async (t) => {
  const [first = '', ...rest] = many
  const room = await open(t, [
    ...[by('own', 3, { views: [first] }), by('liar', 3, { views: [first], isFalse: true })],
    ...[by('own', 4, { views: many }), by('liar', 4, { views: many, isFalse: true })],
    ...[by('own', 5, { views: [first] }), by('liar', 5, { views: [first], isFalse: true })],
  ])
  assert.equal(rest.length, 100)
  const [message] = await room.messages(1)
  assert.match(
    String(message),
    / of the View View 0 .* of 3 of .* block 5, and of 99 more Views\.$/,
  )
})

test('each Host that differs is a failure of its own, the one that did last first', async (t) => {
  const room = await open(t, [
    ...[by('own', 5), by('own', 6), by('liar', 5, { isFalse: true })],
    by('honest', 6, { isFalse: true }),
  ])
  const named = (await room.messages(2)).map((message) => message.split(' ').slice(0, 3).join(' '))
  assert.deepEqual(
    named,
    ['honest', 'liar'].map((host) => `The Host ${identity(host)}`),
  )
})

test('a store that cannot be read is fatal, unless nothing is compared any more', async () => {
  const failure = new Error('the store is closed')
  const failed: unknown[] = []
  const openUnreadable = (): RowDisagreements =>
    openRowDisagreements(
      { own: identity('own') },
      {
        reader: {
          read: () => {
            throw failure
          },
        },
        registry: new Registry(),
        hosts: () => [],
        nameOf: () => null,
        onFatal: (error) => failed.push(error),
      },
    )
  openUnreadable().close()
  await nextTurn()
  assert.deepEqual(failed, [])
  const rows = openUnreadable()
  await nextTurn()
  rows.close()
  assert.deepEqual(failed, [failure])
})

test('it ends with the block that it is about', async (t) => {
  const room = await open(t, [by('own', 20), by('liar', 20, { isFalse: true })])
  await room.messages(1)
  await room.store.putBlock(opaqueBlock(20, 50, 'other'))
  await room.messages(0)
})

test('nothing is said where this Host signed nothing, of strangers, other versions or branches', async (t) => {
  const room = await open(t, [
    ...[by('liar', 3, { isFalse: true }), by('honest', 3)],
    ...[by('own', 4), by('stranger', 4, { isFalse: true })],
    ...[by('own', 5), by('liar', 5, { isFalse: true, runtime: 2 })],
    ...[by('own', 6), by('liar', 6, { isFalse: true, branch: 'other' })],
    ...[by('own', 7), by('liar', 7, { isFalse: true })],
    by('own', 7, { branch: 'other', views: ['Balances'] }),
    by('liar', 7, { branch: 'other', views: ['Balances'], isFalse: true }),
  ])
  const [message] = await room.messages(1)
  assert.match(String(message), /of 1 of the newest 1024 blocks, last of block 7\.$/)
})
