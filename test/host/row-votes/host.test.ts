/** The whole Host with blocks that it has: it signs what a View that is posted makes of them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { openWriter } from '../../../src/store/write/writer.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { until } from '../../support/p2p-room.ts'
import { testDirectory } from '../../support/test-store.ts'
import { engineChain } from '../views/support/engine-room.ts'

const token = 'admin'
const blocks = engineChain(9)

test('a Host signs the rows of a View that is posted, with its own identity', async (t) => {
  const home = testDirectory(t)
  const path = join(home, 'store')
  const options = { path, network: testNetwork, program: 'host', retainBlocks: null } as const
  const log = pino({ enabled: false })
  const store = await openWriter(options, { log })
  for (const block of blocks) await store.putSealedBlock(block)
  await store.close()
  const [chain = '', network = ''] = testNetwork.split('__')
  const names = { CHAIN_NAME: chain, CHAIN_NETWORK: network }
  const host = await openHostInProcess(t, home, { HOST_ADMIN_TOKEN: token, ...names })
  const { apiPort } = await host.opened
  const posted = await fetch(`http://127.0.0.1:${apiPort}/api/v0/views`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'Log { address }', sdl: 'type Addresses { address: String }' }),
  })
  assert.equal(posted.status, 201)
  const { id } = (await posted.json()) as { id: string }
  const metrics = `${host.healthUrl}/metrics`
  const signed = new RegExp(
    `^viewmesh_host_row_statements_signed_total\\{.*kind="first".*\\} ${blocks.length}$`,
    'm',
  )
  await until(async () => signed.test(await (await fetch(metrics)).text()))
  const { identity } = (await host.health()).report as { identity?: string }
  await host.close()
  const again = await openWriter(options, { log })
  t.after(() => again.close())
  again.reader.read((snapshot) => {
    for (const { header } of blocks) {
      const found = snapshot.rowStatements(header.number)
      assert.deepEqual(
        found.map(({ signatureIdentity, blockHash, leaves }) => ({
          signatureIdentity,
          blockHash,
          views: leaves.map(({ view }) => view),
        })),
        [{ signatureIdentity: identity, blockHash: header.hash, views: [id] }],
      )
    }
  })
})
