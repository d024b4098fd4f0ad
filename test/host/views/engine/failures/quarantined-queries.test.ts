/** What queries of a View are told that a Host leaves alone: rows that do not come by themselves are not promised. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import type { GraphqlResult } from '../../../../../src/graphql/graphql.ts'
import { openHostGraphql } from '../../../../../src/host/api.ts'
import { type HostSettings, hostSettings } from '../../../../../src/host/config.ts'
import type { HostedView } from '../../../../../src/host/views/hosted-view.ts'
import { runtimeVersion } from '../../../../../src/lens/program/run-limits.ts'
import { loadSettings } from '../../../../../src/service/settings/settings.ts'
import { buildLens, op } from '../../../../lens/support/lens.ts'
import { captureLog } from '../../../../support/captured-log.ts'
import { testNetwork } from '../../../../support/chain/sealed-blocks.ts'
import { type EngineRoom, engineChain, hostedView, openEngineRoom } from '../support/engine-room.ts'

const trap = buildLens({ transform: [...op.callNext, ...op.drop, ...op.unreachable] })
const settings: HostSettings = loadSettings(hostSettings, {
  argv: [],
  env: { DB_KEYRING_SECRET: 'not used here' },
})

/** Queries of a View over what is stored. */
function openQueries({ store }: Pick<EngineRoom, 'store'>, view: HostedView) {
  const graphql = openHostGraphql(
    { settings, network: testNetwork },
    { log: captureLog().log, registry: new Registry(), reader: store.reader },
  )
  graphql.setViews([view])
  return (query: string): Promise<GraphqlResult> => graphql.execute({ query })
}

/** A Host with blocks from 100 on, which has quarantined this View, and then got block 160. */
async function openQuarantined(t: TestContext, view: HostedView) {
  const room = await openEngineRoom(t)
  await room.put(engineChain(60))
  room.engine.serve(view)
  await room.until(view, ({ name }) => name === 'quarantined')
  await room.put(engineChain(1, 160))
  return { room, ask: openQueries(room, view) }
}

const ofLast = '{ Logs(filter: {_blockNumber: {_eq: 160}}) { address } }'

test('a block that a quarantined View did not try is refused with why and at which block', async (t) => {
  const view = hostedView({ lenses: [trap] })
  const { room, ask } = await openQuarantined(t, view)
  const { errors: [error] = [] } = await ask(ofLast)
  assert.equal(error?.extensions['code'], 'GRAPHQL_VIEW_FAILED')
  assert.match(
    error.message,
    /^The View Logs has no rows of block 160, as it is quarantined since it failed at block 1\d\d: lens 1 trapped in transform: unreachable\. Correct the lens/,
  )
  const { extensions } = await ask('{ Logs { address } }')
  assert.deepEqual(extensions?.views[0]?.quarantine, room.engine.state(view.id)?.failure)
})

test('so is a block of a View whose lenses could not be loaded', async (t) => {
  const { ask } = await openQuarantined(t, hostedView({ lenses: [Buffer.from('no module')] }))
  const { errors: [error] = [] } = await ask(ofLast)
  assert.equal(error?.extensions['code'], 'GRAPHQL_VIEW_FAILED')
  assert.match(error.message, /as it is quarantined since it failed: the module of a lens/)
  const { extensions } = await ask('{ COUNT(Logs: {}) }')
  assert.equal(extensions?.views[0]?.quarantine?.code, 'LENS_MODULE_REFUSED')
})

test('a quarantine of another version of the runtime, or of a View before it, is not told', async (t) => {
  const view = hostedView({ lenses: [trap] })
  const room = await openEngineRoom(t)
  await room.put(engineChain(1, 160))
  const ask = openQueries(room, view)
  const codeOf = async (slot: number, runtime: number): Promise<unknown> => {
    const quarantine = { code: 'LENS_TRAPPED', message: 'lens 1 trapped', block: 104 }
    const record = Buffer.from(JSON.stringify({ slot, runtime, quarantine }))
    await room.store.putRecord(`view-engine/${view.id}`, record)
    return (await ask(ofLast)).errors?.[0]?.extensions['code']
  }
  assert.equal(await codeOf(view.slot, runtimeVersion), 'GRAPHQL_VIEW_FAILED')
  assert.equal(await codeOf(view.slot, runtimeVersion - 1), 'GRAPHQL_VIEW_NOT_COMPUTED')
  assert.equal(await codeOf(view.slot + 1, runtimeVersion), 'GRAPHQL_VIEW_NOT_COMPUTED')
})
