/** What Hosts say that a View is, where no GraphQL schema can be built with it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWriter } from '../../src/store/write/writer.ts'
import { captureLog } from '../support/captured-log.ts'
import { testNetwork, until } from '../support/p2p-room.ts'
import { createMadeChain, madeView } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, temporaryFolder, topOf, untilState } from './support/test-app.ts'

/** On this network a selector of its field has the name of one of logs. */
const collidingSdl = 'type Local { Devnet__Log: [String] }'

test('a View that could not be served is not believed, but what another Host says of it', async (t) => {
  const chain = createMadeChain()
  chain.grow(3)
  const liar = await openMadeHost(t, { chain, sdl: collidingSdl })
  let isThere = false
  const honest = await openMadeHost(t, {
    chain,
    replace: (frame) => {
      if (!isThere) throw new Error('it is not there yet')
      return [frame]
    },
  })
  const { log, lines } = captureLog()
  const path = await temporaryFolder(t)
  const app = await openTestApp(t, { hosts: [liar, honest], path, log })
  await until(() => lines.some(({ msg }) => msg === 'a Host has an SDL that no View has'))
  assert.equal(app.state().failure, null)
  isThere = true
  const { views } = await untilState(app, (state) => topOf(state) === 2)
  assert.equal(views[0]?.name, 'Payment')
  await app.close()
  const again = await openTestApp(t, { hosts: [liar], path })
  assert.equal(topOf(again.state()), 2)
})

test('a View that was believed and cannot be served any more keeps no application from opening', async (t) => {
  const chain = createMadeChain()
  chain.grow(3)
  const path = await temporaryFolder(t)
  const options = { path, network: testNetwork, program: 'app', retainBlocks: null } as const
  for (const sdl of [collidingSdl, 'type Payment {}']) {
    const store = await openWriter(options, { log: captureLog().log })
    const view = { id: madeView, sdl, slot: 0, name: 'Local' }
    const record = { views: [view], removed: [], next: 1 }
    await store.putRecord('app/views', Buffer.from(JSON.stringify(record)))
    await store.close()
    const { log, lines } = captureLog()
    const app = await openTestApp(t, { hosts: [await openMadeHost(t, { chain })], path, log })
    const warning = lines.find(({ msg }) => `${msg}`.startsWith('a View cannot be served any more'))
    assert.equal(warning?.['view'], 'Local')
    const { views } = await untilState(app, (state) => topOf(state) === 2)
    assert.equal(views[0]?.name, 'Payment')
    await app.close()
  }
})
