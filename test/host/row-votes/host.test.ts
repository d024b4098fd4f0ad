/** The whole Host with blocks that it has: it signs what Views that are posted make of them, and names who signs otherwise. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import type { RowStatement } from '../../../src/row-votes/row-statement.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { until } from '../../support/p2p-room.ts'
import { signedLeaves } from '../../support/signed-statements.ts'
import { testDirectory } from '../../support/test-store.ts'
import { engineChain } from '../views/engine/support/engine-room.ts'

const token = 'admin'
const blocks = engineChain(9)
const other = testSigner('another Host')

/** What the other Host signs of the same block: other rows of one View. */
function contradicting(statement: RowStatement, id: string): RowStatement {
  const { blockNumber, blockHash, leaves, runtime } = statement
  const otherLeaves = leaves.map((leaf) =>
    leaf.view === id ? { ...leaf, rowsRoot: namedHash('other rows').slice(2) } : leaf,
  )
  const parts = { signer: other, runtime, network: testNetwork }
  return signedLeaves(blockNumber, blockHash, otherLeaves, parts)
}

test('a Host signs the rows of Views that are posted, and says of which others sign other ones', async (t) => {
  const home = testDirectory(t)
  const path = join(home, 'store')
  const options = { path, network: testNetwork, program: 'host', retainBlocks: null } as const
  const log = pino({ enabled: false })
  const store = await openWriter(options, { log })
  for (const block of blocks) await store.putSealedBlock(block)
  await store.close()
  const [chain = '', network = ''] = testNetwork.split('__')
  const env = {
    ...{ HOST_ADMIN_TOKEN: token, CHAIN_NAME: chain, CHAIN_NETWORK: network },
    HOST_TRUSTED_HOSTS: other.identity,
  }
  const host = await openHostInProcess(t, home, env)
  const { apiPort } = await host.opened
  const post = async (name: string): Promise<string> => {
    const posted = await fetch(`http://127.0.0.1:${apiPort}/api/v0/views`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'Log { address }', sdl: `type ${name} { address: String }` }),
    })
    assert.equal(posted.status, 201)
    return ((await posted.json()) as { id: string }).id
  }
  const areSigned = (kind: 'first' | 'further'): Promise<void> => {
    const signed = new RegExp(
      `^viewmesh_host_row_statements_signed_total\\{.*kind="${kind}".*\\} ${blocks.length}$`,
      'm',
    )
    const metrics = `${host.healthUrl}/metrics`
    return until(async () => signed.test(await (await fetch(metrics)).text()))
  }
  const first = await post('First')
  await areSigned('first')
  const second = await post('Second')
  await areSigned('further')
  const { identity } = (await host.health()).report as { identity?: string }
  await host.close()

  const between = await openWriter(options, { log })
  for (const { header } of blocks) {
    const [own = assert.fail(), ...others] = between.reader.read((snapshot) =>
      snapshot.rowStatements(header.number),
    )
    assert.deepEqual(
      [own.signatureIdentity, own.blockHash, new Set(own.leaves.map(({ view }) => view)), others],
      [identity, header.hash, new Set([first, second]), []],
    )
    assert.ok(await between.putRowStatements(header.number, [contradicting(own, second)]))
  }
  await between.close()

  const again = await openHostInProcess(t, home, env)
  await again.opened
  const differing = async (): Promise<string[]> => {
    const { errors } = (await again.health()).report
    return errors.filter(({ code }) => code === 'HOST_ROWS_DIFFER').map(({ message }) => message)
  }
  await until(async () => (await differing()).length > 0)
  assert.deepEqual(await differing(), [
    `The Host ${other.identity} signed other rows of the View Second than this one: of 9 of the newest 1024 blocks, last of block ${blocks.at(-1)?.header.number}.`,
  ])
})
