import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { testNetwork } from '../support/p2p-room.ts'
import type { LimitedReport } from './support/limited-app.ts'
import { createMadeChain, madeView } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, temporaryFolder, topOf, untilState } from './support/test-app.ts'

const program = fileURLToPath(new URL('support/limited-app.ts', import.meta.url))

test('a store that cannot be written ends what is under way, says why, and is whole afterwards', async (t) => {
  const chain = createMadeChain()
  chain.grow(2_000, 20)
  const host = await openMadeHost(t, { chain })
  const path = await temporaryFolder(t)
  const options = {
    path,
    network: testNetwork,
    views: [madeView],
    peers: [host.room.address],
  }
  const shell = `trap '' XFSZ; ulimit -f 1024; exec "$1" "$2" "$3"`
  const args = ['-c', shell, 'bash', process.execPath, program, JSON.stringify(options)]
  const { stdout } = await promisify(execFile)('bash', args)
  const { state, ends }: LimitedReport = JSON.parse(stdout)
  assert.match(state.failure ?? '', /^The store at .* could not be written/)
  assert.ok(topOf(state) < 1_999)
  for (const end of ends) assert.match(end, /could not be written/)
  const again = await openTestApp(t, { hosts: [host], path })
  const { views, failure } = await untilState(again, (now) => topOf(now) === 1_999)
  assert.equal(failure, null)
  assert.deepEqual(views[0]?.done, [{ from: 0, to: 1_999 }])
  assert.equal(views[0]?.rows, 40_000)
})
