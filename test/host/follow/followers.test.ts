/** What applications get that follow Views of a Host, on loopback and from a real store. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { followLimits } from '../../../src/follow/follow-limits.ts'
import { encodeHostFrame } from '../../../src/follow/host-frames.ts'
import { viewBlock } from '../../support/view-rows.ts'
import { engineChain, hostedView } from '../views/engine/support/engine-room.ts'
import {
  hasSigned,
  heights,
  kinds,
  logs,
  rare,
  stored,
  trustRows,
  untilSigned,
} from './support/follow-checks.ts'
import { openFollowRoom, proof } from './support/follow-room.ts'

describe('an application that follows a View', () => {
  it('is welcomed, and gets seals, rows and a statement of each block, also of empty ones', async (t) => {
    const room = await openFollowRoom(t)
    const view = rare(1)
    room.serve(view)
    room.followers.setChain({ floor: 100 })
    await room.put(engineChain(4))
    await untilSigned(room, heights(4))
    const client = await room.follow({ views: [view], from: 100 })
    await client.until(() => hasSigned(client, view, heights(4)))
    assert.deepEqual(client.rows.get(view.id), stored(room, view))
    const { id, name, sdl } = view
    assert.deepEqual(client.frames[0], {
      kind: 'welcome',
      proof,
      genesis: `0x${'0a'.repeat(32)}`,
      views: [{ view: id, name, sdl, tail: 100, head: 103, state: 'live' }],
    })
    const [last] = engineChain(4).slice(-1)
    const { number, hash } = last?.header ?? assert.fail()
    assert.deepEqual(client.frames[1], { kind: 'head', number, hash })
    const counts = [...(client.rows.get(view.id)?.values() ?? [])].map(({ count }) => count)
    assert.ok(counts.includes(0))
    assert.equal(client.seals.size, 4)
    const block = ['seals', 'rows', 'statement']
    assert.deepEqual(kinds(client), ['welcome', ...block, ...block, ...block, ...block])
    assert.equal(await room.metric('viewmesh_host_follow_frames_total', { kind: 'rows' }), 4)
    const bytes = client.frames.reduce((sum, frame) => sum + encodeHostFrame(frame).length, 0)
    assert.equal(await room.metric('viewmesh_host_follow_bytes_total'), bytes)
    assert.equal(await room.metric('viewmesh_host_followers'), 1)
  })

  it('gets live blocks as they are stored and signed', async (t) => {
    const room = await openFollowRoom(t)
    const view = logs(1)
    room.serve(view)
    const client = await room.follow({ views: [view], from: 100 })
    for (const block of engineChain(6)) {
      await room.put([block])
      await client.until(() => hasSigned(client, view, [block.header.number]))
    }
    assert.deepEqual(client.rows.get(view.id), stored(room, view))
    const later = await room.follow({ views: [view], from: 100 })
    await later.until(() => later.views.length === 1)
    assert.equal(later.views[0]?.tail, 0, 'as long as nobody says otherwise, all blocks may come')
  })

  it('gets at once blocks with which a View is done as they are stored', async (t) => {
    const room = await openFollowRoom(t, { times: { checkMs: 3_600_000, headMs: 3_600_000 } })
    const query = `Log(filter: {address: "0x${'ab'.repeat(20)}"}) { address }`
    const view = hostedView({ slot: 1, query, sdl: 'type None { address: String }' })
    room.serve(view)
    const client = await room.follow({ views: [view], from: 100 })
    let atOnce = 0
    for (const block of engineChain(60)) {
      const { number } = block.header
      await room.put([block])
      const isDone = stored(room, view).has(number)
      await client.until(() => hasSigned(client, view, [number]))
      if (isDone && ++atOnce === 10) break
    }
    assert.equal(atOnce, 10)
    assert.deepEqual(client.rows.get(view.id), stored(room, view))
  })

  it('gets the rows of a large block in parts', async (t) => {
    const room = await openFollowRoom(t)
    const view = logs(1)
    const [block] = engineChain(1)
    const { header } = block ?? assert.fail()
    const rows = heights(30).map(() => ({ name: randomBytes(60_000).toString('base64url') }))
    await room.put(engineChain(1))
    await trustRows(room.store, view)
    await room.store.putViewRows(view.slot, [viewBlock(header, rows)])
    room.expect(view)
    const client = await room.follow({ views: [view], from: 100 })
    await client.until(() => client.rows.get(view.id)?.has(100) === true)
    assert.deepEqual(client.rows.get(view.id), stored(room, view))
    assert.ok(kinds(client).filter((kind) => kind === 'rows').length > 1)
    assert.ok(followLimits.partBytes < followLimits.frameBytes)
  })

  it('is told where the View failed, and gets what is above', async (t) => {
    const room = await openFollowRoom(t)
    const view = logs(1)
    const chain = engineChain(3)
    await room.put(chain)
    await trustRows(room.store, view)
    for (const { header } of chain) {
      const { number: height, hash: blockHash } = header
      const made =
        height === 101
          ? { height, blockHash, failure: new Uint8Array(1) }
          : viewBlock(header, [{ name: `row of ${height}` }])
      await room.store.putViewRows(view.slot, [made])
    }
    room.expect(view)
    const client = await room.follow({ views: [view], from: 100 })
    await client.until(() => client.rows.get(view.id)?.size === 3)
    const counts = [...(client.rows.get(view.id)?.values() ?? [])].map(({ count }) => count)
    assert.deepEqual(counts, [1, null, 1])
  })

  it('gets what was signed alone, where it wants no rows', async (t) => {
    const room = await openFollowRoom(t)
    const view = logs(1)
    room.serve(view)
    await room.put(engineChain(3))
    await untilSigned(room, heights(3))
    const client = await room.follow({ views: [view], from: 100, withRows: false })
    await client.until(() => client.votes.size === 3)
    const block = ['seals', 'statement']
    assert.deepEqual(kinds(client), ['welcome', ...block, ...block, ...block])
    const roots = [...stored(room, view)].map(
      ([height, { hash, root }]) => `${view.id} ${height} ${hash} ${root}`,
    )
    assert.deepEqual([...client.votes.keys()], roots)
  })

  it('gets what is served of the Views that it wants, and is told of those that are not', async (t) => {
    const room = await openFollowRoom(t, { patienceMs: 20 })
    const streamed = hostedView({
      slot: 2,
      sdl: 'type Logs @materialized(if: false) { address: String }',
    })
    const served = logs(1)
    room.serve(served)
    room.expect(streamed)
    await room.put(engineChain(2))
    for (const view of [logs(3), streamed]) {
      const client = await room.follow({ views: [view, served], from: 100 })
      await client.until(() => hasSigned(client, served, heights(2)))
      const nothing = { name: '', sdl: '', tail: null, head: null, state: 'unknown' }
      assert.deepEqual(client.views[0], { view: view.id, ...nothing })
      assert.equal(client.views[1]?.state, 'live')
    }
  })

  it('is told that a View waits of which nothing is known yet', async (t) => {
    const room = await openFollowRoom(t)
    const view = logs(1)
    room.followers.begin({ kept: () => [view], find: () => undefined })
    const client = await room.follow({ views: [view] })
    await client.until(() => client.views.length > 0)
    assert.equal(client.views[0]?.state, 'waiting')
  })

  it('is told that a Host has none of the Views that it wants', async (t) => {
    const room = await openFollowRoom(t)
    room.expect(logs(1))
    const client = await room.follow({ views: [logs(3), logs(4)] })
    assert.deepEqual(await client.untilError(), { kind: 'error', error: 'unknown', tail: null })
    assert.deepEqual(kinds(client), ['error'])
    assert.equal(await room.metric('viewmesh_host_follow_ended_total', { reason: 'unknown' }), 1)
  })

  it('is not to blame where the Host fails', async (t) => {
    const room = await openFollowRoom(t)
    room.followers.begin({
      kept: () => {
        throw new Error('the store is closed')
      },
      find: () => undefined,
    })
    const client = await room.follow({ views: [logs(1)] })
    await assert.rejects(client.next(), { code: 'P2P_CHANNEL_FAILED' })
    assert.equal(await room.metric('viewmesh_host_follow_ended_total', { reason: 'failed' }), 1)
    assert.equal(await room.server.metric('viewmesh_p2p_faults_total'), 0)
  })

  it('is told when a View is removed, and when the Host stops', async (t) => {
    const room = await openFollowRoom(t, { times: { checkMs: 20 } })
    const [kept, removed] = [logs(1), logs(2)]
    for (const view of [kept, removed]) room.expect(view)
    const both = await room.follow({ views: [kept, removed] })
    const one = await room.follow({ views: [kept] })
    await Promise.all([both.next(), one.next()])
    room.drop(removed)
    assert.equal((await both.untilError()).error, 'unknown')
    const [end] = await Promise.all([one.untilError(), room.followers.close()])
    assert.equal(end.error, 'unavailable')
  })

  it('hears of the head by the clock', async (t) => {
    const room = await openFollowRoom(t, { times: { headMs: 20 } })
    const view = logs(1)
    room.expect(view)
    await room.put(engineChain(1))
    const client = await room.follow({ views: [view], from: 100, windowBytes: 0 })
    const heads = (): number => client.frames.filter(({ kind }) => kind === 'head').length
    await client.until(() => heads() === 4)
  })
})

describe('an application that follows several Views', () => {
  it('gets one statement of each block where all are done', async (t) => {
    const room = await openFollowRoom(t)
    const views = [logs(1), rare(2), logs(3)]
    room.serve(...views)
    await room.put(engineChain(3))
    await untilSigned(room, heights(3))
    const client = await room.follow({ views, from: 100 })
    await client.until(() => views.every((view) => hasSigned(client, view, heights(3))))
    const block = ['seals', 'rows', 'rows', 'rows', 'statement']
    assert.deepEqual(kinds(client), ['welcome', ...block, ...block, ...block])
  })

  it('does not wait for one that is not computed, and gets that one later, signed as well', async (t) => {
    const room = await openFollowRoom(t, { patienceMs: 20 })
    const [quick, late] = [logs(1), logs(2)]
    room.expect(late)
    room.serve(quick)
    await room.put(engineChain(5))
    const client = await room.follow({ views: [late, quick], from: 100 })
    await client.until(() => hasSigned(client, quick, heights(5)))
    assert.equal(client.rows.get(late.id)?.size, 0)
    room.engine.serve(late)
    await client.until(() => hasSigned(client, late, heights(5)))
    assert.deepEqual(client.rows.get(late.id), stored(room, late))
  })
})
