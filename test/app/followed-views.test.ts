/** When an application believes what Hosts say of a View, and what it keeps of it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { type FollowedViews, openFollowedViews } from '../../src/app/followed-views.ts'
import type { StoreWriter } from '../../src/store/store.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { namedHash } from '../support/chain/opaque-blocks.ts'
import { testNetwork } from '../support/p2p-room.ts'
import { testDirectory } from '../support/test-store.ts'

const [one = '', two = '', three = ''] = ['one', 'two', 'three'].map(namedHash)
const sdl = 'type Payment { to: String }'
const otherSdl = 'type Payment { to: String memo: String }'

async function openStore(t: TestContext): Promise<StoreWriter> {
  const options = { path: testDirectory(t), network: testNetwork, retainBlocks: null } as const
  const store = await openWriter({ ...options, program: 'app' }, { log: pino({ enabled: false }) })
  t.after(() => store.close())
  return store
}

interface Opened {
  readonly views: FollowedViews
  /** The names of all that were served, at the beginning and after each change. */
  readonly served: readonly (readonly string[])[]
  /** Slots whose rows were removed. */
  readonly cleared: readonly number[]
}

async function open(store: StoreWriter, ids: readonly string[], minimumHosts = 1): Promise<Opened> {
  const served: (readonly string[])[] = []
  const cleared: number[] = []
  const views = await openFollowedViews(
    { network: testNetwork, ids, minimumHosts },
    {
      log: pino({ enabled: false }),
      store: {
        ...store,
        clearView: async (slot) => {
          cleared.push(slot)
          await store.clearView(slot)
        },
      },
      onChange: (list) => void served.push(list.map(({ name }) => name)),
    },
  )
  return { views, served, cleared }
}

test('a View is what as many Hosts as have to agree say of it last', async (t) => {
  const { views, served } = await open(await openStore(t), [one], 2)
  await views.hear('A', one, sdl)
  await views.hear('A', one, sdl)
  assert.equal(views.find(one), undefined, 'a Host counts once')
  await views.hear('B', one, otherSdl)
  await views.hear('B', one, 'type Payment { to: String at: Int }')
  await views.hear('A', one, otherSdl)
  assert.deepEqual(views.list(), [], 'B has said something else since')
  await views.hear('B', one, otherSdl)
  assert.equal(views.find(one)?.sdl, otherSdl)
  for (const host of ['A', 'B']) await views.hear(host, one, sdl)
  assert.equal(views.find(one)?.sdl, otherSdl, 'what is believed stays')
  assert.deepEqual(served, [[], ['Payment']])
})

test('a Host that says something else leaves what others say of a View', async (t) => {
  const { views } = await open(await openStore(t), [one], 3)
  for (const host of ['A', 'B']) await views.hear(host, one, sdl)
  await views.hear('A', one, otherSdl)
  await views.hear('C', one, sdl)
  assert.equal(views.find(one), undefined)
  await views.hear('D', one, sdl)
  assert.equal(views.find(one)?.sdl, sdl)
})

test('a View that Hosts describe at once becomes known once, and is not checked again', async (t) => {
  const { views, served } = await open(await openStore(t), [one, two])
  await Promise.all(['A', 'B'].map((host) => views.hear(host, one, sdl)))
  await views.hear('C', one, 'no type')
  await views.hear('A', two, sdl)
  assert.deepEqual(
    views.list().map(({ id, slot }) => [id, slot]),
    [
      [one, 0],
      [two, 1],
    ],
  )
  assert.equal(served.length, 3)
})

test('a View that is not followed is not heard of', async (t) => {
  const { views } = await open(await openStore(t), [one])
  await views.hear('A', two, sdl)
  assert.deepEqual([views.ids, views.list()], [[one], []])
})

test('what no View can be is refused, and counts for nothing', async (t) => {
  const { views } = await open(await openStore(t), [one])
  for (const wrong of ['no type', 'type Payment {}'])
    await assert.rejects(views.hear('A', one, wrong), { code: 'VIEWS_SDL_INVALID' })
  assert.equal(views.find(one), undefined)
})

test('two Views of one type have names and slots of their own, and keep them', async (t) => {
  const store = await openStore(t)
  const { views } = await open(store, [one, two])
  await Promise.all([one, two].map((id) => views.hear('A', id, sdl)))
  const [first, second] = [views.find(one), views.find(two)]
  assert.ok(first && second)
  assert.equal(first.name, 'Payment')
  assert.notEqual(second.name, first.name)
  assert.deepEqual([first.slot, second.slot], [0, 1])
  const again = await open(store, [two, one])
  assert.deepEqual(again.cleared, [])
  assert.deepEqual([again.views.find(one), again.views.find(two)], [first, second])
  assert.deepEqual(again.served, [[first.name, second.name]])
})

test('a View that is followed no more leaves its slot, which no other gets', async (t) => {
  const store = await openStore(t)
  const { views } = await open(store, [one, two])
  for (const id of [one, two]) await views.hear('A', id, sdl)
  const second = views.find(two)
  const later = await open(store, [two, three])
  assert.deepEqual(later.cleared, [0])
  assert.deepEqual(later.views.list(), [second])
  await later.views.hear('A', three, sdl)
  assert.equal(later.views.find(three)?.slot, 2)
  assert.deepEqual((await open(store, [two, three])).cleared, [], 'its rows are gone')
})
