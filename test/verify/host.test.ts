/** Documents of every collection on their way: from a node through a Generator and a Host to an application. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { Address } from 'viem'
import { planBlock, tokenCreation } from '../../src/devnet/load.ts'
import { verifyCommand } from '../../src/toolkit/verify-command.ts'
import { verifyAnswer } from '../../src/verify/verify.ts'
import { startAnvil } from '../support/chain/anvil.ts'
import { openGeneratorInProcess } from '../support/generator-in-process.ts'
import { openHostInProcess } from '../support/host-in-process.ts'
import { until } from '../support/p2p-room.ts'
import { provable, provableCollections, wholeBlocks } from '../support/proof-query.ts'
import { testDirectory } from '../support/test-store.ts'

/** A node whose blocks have transactions of several kinds, with logs and access lists; its URL and height. */
async function startNode(t: TestContext): Promise<{ url: string; height: number }> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  t.after(() => anvil.close())
  const accounts = await anvil.rpc<Address[]>('eth_accounts')
  const blocks = [[tokenCreation(accounts)], ...[0, 10, 15].map((n) => planBlock(accounts, n))]
  for (const transactions of blocks) {
    for (const transaction of transactions) await anvil.rpc('eth_sendTransaction', transaction)
    await anvil.rpc('anvil_mine', '0x1')
  }
  return { url: anvil.url, height: blocks.length }
}

test('what a Host serves is proven by the Generator that sealed it, in every collection', async (t) => {
  const node = await startNode(t)
  const generator = await openGeneratorInProcess(t, testDirectory(t), { NODE_RPC_URL: node.url })
  await generator.reports(({ head }) => head === node.height)
  const { id, addresses } = generator.p2p.self()
  const host = await openHostInProcess(t, testDirectory(t), {
    BOOTSTRAP_PEERS: `${addresses[0]}/p2p/${id}`,
  })
  const { apiPort } = await host.opened
  await until(async () => (await host.health()).report.head === node.height)
  const ask = async (query: string): Promise<string> => {
    const body = JSON.stringify({ query })
    const url = `http://127.0.0.1:${apiPort}/api/v0/graphql`
    return await (await fetch(url, { method: 'POST', body })).text()
  }
  const own = '{ BlockSignature(limit: 1) { signatureIdentity } }'
  const { BlockSignature } = await generator.query<{
    BlockSignature: [{ signatureIdentity: string }]
  }>(own)
  const identities = [BlockSignature[0].signatureIdentity]

  for (const name of provableCollections) {
    const verdicts = verifyAnswer(JSON.parse(await ask(`{ ${name} { ${provable(name)} } }`)), {
      identities,
    })
    assert.ok(verdicts.length > 1)
    for (const { verdict } of verdicts) {
      assert.equal(verdict.proves, 'document')
      assert.deepEqual(
        [verdict.collection, verdict.network, verdict.signers],
        [name, 'Local__Devnet', identities],
      )
    }
  }

  await t.test('the command says so of whole blocks', async () => {
    const answer = await ask(wholeBlocks('limit: 0'))
    const flags = { identity: identities, minimum: 1 }
    const { exitCode, stdout, stderr } = await verifyCommand(
      '-',
      flags,
      Readable.from([Buffer.from(answer)]),
    )
    assert.deepEqual([exitCode, stderr], [0, ''])
    const proven = stdout.split('\n').filter((line) => line.includes(': proven: '))
    assert.equal(proven.length, answer.match(/"_proof"/g)?.length)
  })
})
