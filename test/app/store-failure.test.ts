/** What becomes of an application whose store can no longer be read or written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openExisting, openRoot } from '../../src/store/disk/environment.ts'
import { stateKey } from '../../src/store/disk/layout.ts'
import type { StoreWriter } from '../../src/store/store.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { captureLog } from '../support/captured-log.ts'
import { testNetwork, until } from '../support/p2p-room.ts'
import { createMadeChain } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, temporaryFolder, topOf, untilState } from './support/test-app.ts'

/** As another program would. */
async function writeInto(path: string): Promise<void> {
  const root = openRoot(path)
  const meta = openExisting(root, 'meta') ?? assert.fail('the store has been opened')
  const { value, version } = meta.getEntry(stateKey) ?? assert.fail('it has a state')
  await meta.put(stateKey, value, version + 10)
  await root.close()
}

test('an application whose store fails says why, follows no Host any more, and answers nothing', async (t) => {
  const chain = createMadeChain()
  chain.grow(2)
  const host = await openMadeHost(t, { chain })
  const path = await temporaryFolder(t)
  const { log, line } = captureLog()
  const app = await openTestApp(t, { hosts: [host], path, log })
  await untilState(app, (state) => topOf(state) === 1)
  await app.query('{ __typename }')
  await writeInto(path)
  chain.grow(1)
  const { failure } = await untilState(app, (state) => state.failure !== null)
  const expected = `The store at ${path} could not be written. Check the disk and the kernel’s log, then start again: everything that was acknowledged is kept.`
  assert.equal(failure, expected)
  await line('the store of the application failed')
  await until(() => app.state().hosts.every(({ role }) => role === 'away'))
  await assert.rejects(app.query('{ __typename }'))
  assert.equal(topOf(app.state()), 1)
})

test('an application that cannot be opened lets go of its store', async (t) => {
  const path = await temporaryFolder(t)
  const options = { path, network: testNetwork, program: 'app', retainBlocks: null } as const
  const open = (): Promise<StoreWriter> => openWriter(options, { log: captureLog().log })
  const damaged = await open()
  await damaged.putRecord('app/hosts', Buffer.from('no JSON'))
  await damaged.close()
  const host = await openMadeHost(t, { chain: createMadeChain() })
  await assert.rejects(openTestApp(t, { hosts: [host], path }), SyntaxError)
  const store = await open()
  await store.close()
})
