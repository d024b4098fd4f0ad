import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { erc20Abi } from 'viem'
import { wantedDocuments } from '../../../../src/compute/wanted-documents.ts'
import { createViewSelector } from '../../../../src/graphql/selection/view-selection.ts'
import { createBlockIndexes } from '../../../../src/host/views/engine/empty-blocks.ts'
import { indexNeeds } from '../../../../src/host/views/engine/index-needs.ts'
import type { HostedView } from '../../../../src/host/views/hosted-view.ts'
import { prepareProgram } from '../../../../src/lens/program/program.ts'
import { hasHeight } from '../../../../src/primitives/height-ranges.ts'
import { hasNeeded } from '../../../../src/store/needed-terms.ts'
import type { SealedBlockToStore, Snapshot } from '../../../../src/store/store.ts'
import { shippedLenses } from '../../../../src/views/shipped-lenses.ts'
import { hintsOf } from '../../../../src/views/view-hints.ts'
import type { ViewQuery } from '../../../../src/views/view-query.ts'
import { buildLens } from '../../../lens/support/lens.ts'
import {
  type ChainBlock,
  createChain,
  shapes,
  transferTopic,
} from '../../../support/chain/block-factory.ts'
import { testNetwork } from '../../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../../support/chain/store-blocks.ts'
import { openTestStore } from '../../../support/test-store.ts'
import { engineChain, hostedView, openEngineRoom, rowBytes } from './support/engine-room.ts'

const moduleOf = (name: string): Uint8Array =>
  readFileSync(new URL(`../../../../src/lenses/${name}.wasm`, import.meta.url))
const selector = createViewSelector(testNetwork)
const needsOf = (view: HostedView) => indexNeeds(view, selector.compile(view.query))

const chain = createChain({ seed: 'empty', count: 70, from: 100, shape: shapes.sparse })
const absent = { address: `0x${'ab'.repeat(20)}`, hash: `0x${'cd'.repeat(32)}` }

// --- Views that look for what some blocks have ------------------------------------------------

const logsOf = (block: ChainBlock) => block.receipts.flatMap(({ logs }) => logs ?? [])
const anyLog = fc.constantFrom(...chain.flatMap(logsOf))
const anyAddress = fc.oneof(
  anyLog.map(({ address }) => String(address)),
  fc.constant(absent.address),
)
const anyTopic = fc.oneof(
  anyLog.map(({ topics }) => topics?.at(-1) ?? absent.hash),
  fc.constant(absent.hash),
)
const anyList = (value: fc.Arbitrary<string>) => fc.array(value, { maxLength: 3 })

const anyCondition = fc.oneof(
  anyAddress.map((address) => `{address: {_eq: "${address}"}}`),
  anyList(anyAddress).map((list) => `{address: {_in: ${JSON.stringify(list)}}}`),
  anyTopic.map((topic) => `{topics: {_any: {_eq: "${topic}"}}}`),
  anyAddress.map((address) => `{transaction: {to: {_eq: "${address}"}}}`),
  anyAddress.map((address) => `{address: {_neq: "${address}"}}`),
  fc.constantFrom('{logIndex: {_gt: 1}}', '{}'),
)
const anyFilter = fc.oneof(
  anyCondition,
  fc.array(anyCondition, { maxLength: 3 }).map((parts) => `{_and: [${parts.join(', ')}]}`),
  fc.array(anyCondition, { minLength: 1, maxLength: 3 }).map((parts) => {
    return `{_or: [${parts.join(', ')}]}`
  }),
)
const anyLenses = fc.oneof(
  fc.constant({ lenses: [], args: '' }),
  anyAddress.map((value) => ({
    lenses: [moduleOf('filter')],
    args: JSON.stringify({ src: 'address', value }),
  })),
  anyAddress.map((tokenAddress) => ({
    lenses: [moduleOf('erc20_transfers')],
    args: JSON.stringify({ tokenAddress }),
  })),
  fc.constant({ lenses: [buildLens()], args: '' }),
)
const anyViewOfLogs = fc.tuple(anyFilter, anyLenses).map(([filter, parts]) => {
  return hostedView({ ...parts, query: `Log(filter: ${filter}) { address topics data }` })
})
const anyParty = fc.constantFrom(
  ...chain.flatMap(({ block }) => (block.transactions ?? []).flatMap(({ from, to }) => [from, to])),
  absent.address,
)
const anyViewOfTransactions = fc
  .tuple(fc.constantFrom('from', 'to'), anyParty)
  .map(([src, value]) => viewOfCalls(src, value))
const anyView = fc.oneof(anyViewOfLogs, anyViewOfTransactions)

/** Of the transactions that one lens keeps, which another one decodes. */
function viewOfCalls(src: string, value: unknown, slot = 1): HostedView {
  return hostedView({
    slot,
    query: 'Transaction { hash from to input }',
    lenses: [moduleOf('filter_transaction'), moduleOf('decode_call')],
    args: JSON.stringify({ src, value, abi: erc20Abi }),
  })
}

async function hasDocuments(query: ViewQuery, snapshot: Snapshot, height: number) {
  for await (const batch of selector
    .compile(query)
    .documents(snapshot, { from: height, to: height }))
    if (batch.length > 0) return true
  return false
}

/** What the lens process does before it runs lenses. */
async function hasWork(view: HostedView, snapshot: Snapshot, height: number): Promise<boolean> {
  const wanted = wantedDocuments(hintsOf(view.lenses, view.query), testNetwork)
  if (wanted !== null && !(await hasDocuments(wanted, snapshot, height))) return false
  return hasDocuments(view.query, snapshot, height)
}

describe('blocks without rows of a View', () => {
  it('have no documents that a View asks for', async (t) => {
    const store = await openTestStore(t, null)
    for (const block of chain) await store.putSealedBlock(storableBlock(block))
    await store.flushed()
    const snapshot = store.reader.snapshot()
    t.after(() => snapshot.release())
    let found = 0
    await fc.assert(
      fc.asyncProperty(
        anyView,
        fc.array(fc.constantFrom(...chain), { minLength: 1, maxLength: 3 }),
        async (view, blocks) => {
          const needs = needsOf(view)
          const indexes = createBlockIndexes(snapshot)
          for (const { number: height } of blocks) {
            if (needs === null || hasNeeded(needs, indexes.at(height))) continue
            found += 1
            assert.equal(await hasWork(view, snapshot, height), false)
          }
        },
      ),
      { numRuns: 600 },
    )
    assert.ok(found > 100, `${found} blocks`)
  })

  it('are looked for by 1,000 values of the index, and no more', async (t) => {
    const store = await openTestStore(t, null)
    const [block = assert.fail()] = chain
    await store.putSealedBlock(storableBlock(block))
    await store.flushed()
    const term = { kind: 'logAddress', value: Buffer.from('ab'.repeat(20), 'hex') } as const
    const tenTimes = Array.from({ length: 10 }, () => ({ type: 'term', term }) as const)
    const needs = { type: 'any', parts: tenTimes } as const
    store.reader.read((snapshot) => {
      const indexes = createBlockIndexes(snapshot)
      const views = Array.from({ length: 101 }, () => hasNeeded(needs, indexes.at(block.number)))
      assert.deepEqual(views, [...Array(100).fill(false), true])
    })
  })

  it('are the same by the writer, which marks them as it stores them', async (t) => {
    let marked = 0
    const property = fc.asyncProperty(
      fc.array(anyView, { minLength: 1, maxLength: 12 }),
      fc.nat(chain.length - 8),
      async (views, first) => {
        const store = await openTestStore(t, null)
        for (const [slot, view] of views.entries())
          await store.setViewNeeds(slot, structuredClone(needsOf(view)))
        for (const block of chain.slice(first, first + 8)) {
          const { number: height } = block
          const done = await store.putSealedBlock(storableBlock(block))
          const marks = done.flatMap(({ slots }) => slots)
          store.reader.read((snapshot) => {
            const holds = createBlockIndexes(snapshot).at(height)
            const expected = views.flatMap((view, slot) => {
              const needs = needsOf(view)
              return needs === null || hasNeeded(needs, holds) ? [] : [slot]
            })
            assert.deepEqual(marks, expected)
            const isDone = (slot: number) => hasHeight(snapshot.viewRanges(slot), height)
            assert.deepEqual([...views.keys()].filter(isDone), expected)
          })
          marked += marks.length
        }
      },
    )
    await fc.assert(property, { numRuns: 30 })
    assert.ok(marked > 100, `${marked} marks`)
  })

  it('are all those without a value that the View asks for', async (t) => {
    const store = await openTestStore(t, null)
    for (const block of chain) await store.putSealedBlock(storableBlock(block))
    await store.flushed()
    const address = chain.flatMap(logsOf)[0]?.address ?? assert.fail()
    const needs = needsOf(hostedView({ query: `Log(filter: {address: "${address}"}) { data }` }))
    assert.ok(needs !== null)
    store.reader.read((snapshot) => {
      const indexes = createBlockIndexes(snapshot)
      for (const block of chain) {
        const has = logsOf(block).some((log) => log.address === address)
        assert.equal(hasNeeded(needs, indexes.at(block.number)), has)
      }
    })
  })

  it('are not known where anything may have rows, or too much is asked for', () => {
    const many = Array.from({ length: 65 }, (_, at) => `0x${at.toString(16).padStart(40, '0')}`)
    const among = (count: number) => `{address: {_in: ${JSON.stringify(many.slice(0, count))}}}`
    const filters = ['{}', '{logIndex: 1}', among(65)]
    for (const filter of filters)
      assert.equal(needsOf(hostedView({ query: `Log(filter: ${filter}) { data }` })), null)
    const query = `Log(filter: {address: "${absent.address}"}) { data }`
    assert.equal(needsOf(hostedView({ query, lenses: [buildLens()] })), null)
    for (const filter of [`{address: "${absent.address}"}`, among(64)])
      assert.notEqual(needsOf(hostedView({ query: `Log(filter: ${filter}) { data }` })), null)
  })

  it('are found by values of the index alone, as few as say the same', () => {
    const [one, two] = ['ab', 'cd'].map((digits) => ({
      condition: `{address: {_eq: "0x${digits.repeat(20)}"}}`,
      needed: {
        type: 'term',
        term: { kind: 'logAddress', value: new Uint8Array(Buffer.from(digits.repeat(20), 'hex')) },
      },
    }))
    assert.ok(one && two)
    const nothing = '{address: {_in: []}}'
    const needs = (filter: string) =>
      needsOf(hostedView({ query: `Log(filter: ${filter}) { data }` }))
    const never = { type: 'any', parts: [] }
    assert.deepEqual(needs(one.condition), one.needed)
    assert.deepEqual(needs(nothing), never)
    const term = { kind: 'to', value: one.needed.term.value }
    assert.deepEqual(needsOf(viewOfCalls('to', `0x${'AB'.repeat(20)}`)), { type: 'term', term })
    assert.deepEqual(needs(`{_and: [${one.condition}, {logIndex: 1}]}`), one.needed)
    assert.deepEqual(needs(`{_and: [${one.condition}, ${nothing}]}`), never)
    assert.deepEqual(needs(`{_or: [${one.condition}, ${nothing}]}`), one.needed)
    assert.equal(needs(`{_or: [${one.condition}, {logIndex: 1}]}`), null)
    const both = `[${one.condition}, ${two.condition}]`
    const parts = [one.needed, two.needed]
    assert.deepEqual(needs(`{_and: ${both}}`), { type: 'all', parts })
    assert.deepEqual(needs(`{_or: ${both}}`), { type: 'any', parts })
  })

  it('have none because no lens that ships makes a row of nothing', () => {
    const address = absent.address
    const args: Readonly<Record<string, object>> = {
      decode_call: { abi: erc20Abi },
      decode_log: { abi: erc20Abi, unmatched: 'keep' },
      erc20_balances: { tokenAddress: address },
      erc20_transfers: { tokenAddress: address },
      filter: { src: 'address', value: address },
      filter_transaction: { src: 'address', value: address },
    }
    for (const name of shippedLenses.values()) {
      const lens = { wasm: moduleOf(name), args: JSON.stringify(args[name] ?? assert.fail(name)) }
      for (const feed of ['stream', 'single', null] as const)
        prepareProgram([lens], feed).run([], () => assert.fail(name))
    }
  })
})

// --- In the engine ----------------------------------------------------------------------------

const isLive = ({ name }: { name: string }): boolean => name === 'live'

/** Views without rows, one with a row of each block, and one whose lens nobody knows. */
function crowd(): HostedView[] {
  const abi = [{ type: 'event', name: 'Nothing', inputs: [] }]
  return [
    hostedView({ slot: 1, query: `Log(filter: {address: "${absent.address}"}) { address }` }),
    hostedView({
      slot: 2,
      query: 'Log { address topics data }',
      lenses: [moduleOf('decode_log')],
      args: JSON.stringify({ abi, unmatched: 'drop' }),
    }),
    hostedView({ slot: 3, query: `Log(filter: {topics: {_any: "${transferTopic}"}}) { address }` }),
    hostedView({
      slot: 4,
      query: `Log(filter: {address: "${absent.address}"}) { address }`,
      lenses: [buildLens()],
    }),
    viewOfCalls('to', absent.address, 5),
  ]
}

async function openCrowd(
  t: Parameters<typeof openEngineRoom>[0],
  blocks: SealedBlockToStore[],
  options: Parameters<typeof openEngineRoom>[1] = {},
) {
  const sent = new Set<number>()
  const room = await openEngineRoom(t, {
    ...options,
    through: (writer, store) => {
      const through = options.through?.(writer, store) ?? writer
      const setViewNeeds: typeof through.setViewNeeds = async (slot, needs) => {
        await through.setViewNeeds(slot, needs)
        if (needs === null) sent.delete(slot)
        else sent.add(slot)
      }
      return { ...through, setViewNeeds }
    },
  })
  await room.put(blocks)
  const views = crowd()
  for (const view of views) room.engine.serve(view)
  for (const view of views)
    await room.until(view, (state) => isLive(state) && (sent.has(view.slot) || view.slot === 4))
  const rows = () => views.map(({ slot }) => rowBytes(room.store, slot))
  const jobs = async (): Promise<number> => {
    const metric = await room.registry.getSingleMetric('viewmesh_host_view_job_seconds')?.get()
    const counts = metric?.values.filter(({ labels, ...value }) => {
      const isCount = 'metricName' in value && String(value.metricName).endsWith('_count')
      return isCount && labels['part'] === 'compute'
    })
    return (counts ?? []).reduce((sum, { value }) => sum + value, 0)
  }
  const until = (isSo: (state: { done: readonly (readonly number[])[] }) => boolean) =>
    Promise.all(views.map((view) => room.until(view, isSo)))
  return { room, rows, jobs, until, views, sent }
}

describe('new blocks without rows of a View', () => {
  it('are done without a job, as the back-fill of another Host finds them', async (t) => {
    const blocks = engineChain(30)
    const live = await openCrowd(t, blocks.slice(0, 10))
    const before = await live.jobs()
    for (let at = 10; at < 30; at++) {
      await live.room.put(blocks.slice(at, at + 1))
      await live.until(({ done }) => done[0]?.[1] === 100 + at)
    }
    assert.equal((await live.jobs()) - before, 2 * 20)
    assert.deepEqual(live.rows(), (await openCrowd(t, blocks)).rows())
    const text = await live.room.registry.metrics()
    assert.match(text, /^viewmesh_host_view_blocks_total\{stage="live",outcome="done"\} 100$/m)
  })

  it('are done in the transaction that stores them, until their View is removed', async (t) => {
    const blocks = engineChain(40)
    const marked: number[] = []
    let lookUps = 0
    const { room, views, until, sent } = await openCrowd(t, blocks.slice(0, 10), {
      through: (writer) => ({
        ...writer,
        putEmptyViewBlocks: async (empty) => {
          marked.push(...empty.map(({ height }) => height))
          return await writer.putEmptyViewBlocks(empty)
        },
      }),
      onLookUp: () => {
        lookUps += 1
      },
    })
    const headOf = (slot: number): number | undefined =>
      room.store.reader.read((snapshot) => snapshot.viewRanges(slot).at(-1)?.[1])
    assert.deepEqual(sent, new Set([1, 2, 3, 5]))
    let next = 10
    for (const end = next + 10; next < end; next++) {
      await room.put(blocks.slice(next, next + 1))
      assert.deepEqual([1, 2, 5].map(headOf), Array(3).fill(100 + next))
      await until(({ done }) => done[0]?.[1] === 100 + next)
    }
    const [removed = assert.fail(), ...others] = views
    const puts = [room.put(blocks.slice(next, next + 1))]
    const ended = room.engine.remove(removed.id)
    puts.push(...blocks.slice(next + 1, next + 5).map((block) => room.put([block])))
    await ended
    const cleared = room.store.clearView(removed.slot)
    puts.push(room.put(blocks.slice(next + 5, next + 10)))
    await Promise.all([cleared, ...puts])
    const isDone = ({ done }: { done: readonly (readonly number[])[] }): boolean =>
      done[0]?.[1] === 109 + next
    await Promise.all(others.map((view) => room.until(view, isDone)))
    assert.equal(headOf(removed.slot), undefined)
    assert.deepEqual(sent, new Set([2, 3, 5]))
    assert.deepEqual([marked, lookUps], [[], 0], 'nothing is left to be looked for')
    await room.engine.close()
    const text = await room.registry.metrics()
    const counted = 10 * views.length + 10 * others.length
    assert.match(
      text,
      new RegExp(`^viewmesh_host_view_blocks_total{stage="live",outcome="done"} ${counted}$`, 'm'),
    )
  })

  it('are found once more where another block took the place of one', async (t) => {
    const blocks = engineChain(20)
    const { room, rows, until } = await openCrowd(t, blocks.slice(0, 10))
    await room.put(blocks.slice(10))
    const fork = engineChain(6, 115, 'fork')
    await room.replace(115, fork)
    await until(({ done }) => done.length === 1 && done[0]?.[1] === 120)
    for (const of of rows())
      for (const { header } of fork) assert.ok(of.get(header.number)?.startsWith(header.hash))
    const other = await openCrowd(t, [...blocks.slice(0, 15), ...fork])
    assert.deepEqual(rows(), other.rows())
  })
})
