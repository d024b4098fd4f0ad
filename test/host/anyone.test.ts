/** A Host that believes anyone, under keys by the thousand: it cannot know what is true, but it lives and says so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HealthReport } from '../../src/service/contract.ts'
import { createChain, shapes } from '../support/chain/block-factory.ts'
import { startChild } from '../support/child-program.ts'
import { pause, prepareProgram } from '../support/programs.ts'
import { openTestGenerator } from '../support/test-generator.ts'

const messages = 10_000
const megabyte = 1_000_000
/** What may wait beside the chain, packed and unpacked, and what any Host may grow by under a storm. */
const mostBytes = (64 + 32 + 50) * megabyte
/** Signers that are remembered. */
const mostSigners = 256
/** Ten for each thing that can be wrong with a signer, and what is of the Host itself. */
const mostErrors = 40

test(`${messages} messages of thousands of keys neither end nor fill a Host that trusts anyone`, {
  timeout: 600_000,
}, async (t) => {
  const blocks = createChain({ count: 20, from: 1, shape: shapes.tiny })
  const generator = await openTestGenerator(t, 'honest', blocks)
  const host = await prepareProgram('host', {
    CHAIN_NAME: 'Local',
    CHAIN_NETWORK: 'Devnet',
    BOOTSTRAP_PEERS: generator.room.address,
    HOST_TRUST: 'anyone',
    LOG_LEVEL: 'error',
  })
  t.after(() => host.close())
  await host.start()
  const id = (await host.health()).p2p.self?.id ?? ''
  const before = host.memory().ownBytes
  const storm = startChild('test/host/support/message-storm.ts', {
    args: [host.peerAddress(id), 'honest', `${blocks.length}`, '10', 'keys'],
  })
  t.after(() => storm.process.kill('SIGKILL'))
  const health = async (): Promise<HealthReport> => {
    const answer = await fetch(host.healthUrl, { signal: AbortSignal.timeout(2_000) })
    assert.equal(answer.status, 200)
    return (await answer.json()) as HealthReport
  }
  const seen = new Set<number>()
  const reported = new Set<string>()
  const sent = (): number => Number(storm.stdout().trim().split('\n').at(-1))
  // Until as many keys were heard as are remembered, and some of them said two things at once.
  while (sent() < messages || !seen.has(mostSigners) || !reported.has('HOST_SIGNER_TWICE')) {
    assert.equal(storm.process.exitCode, null, storm.stderr())
    const { signers, errors } = await health()
    const count = signers?.length ?? 0
    seen.add(count)
    assert.ok(count <= mostSigners)
    const codes = errors.map(({ code }) => code)
    assert.ok(errors.length <= mostErrors && codes.includes('HOST_TRUSTS_ANYONE'), codes.join())
    for (const code of codes) reported.add(code)
    assert.ok(host.memory().ownBytes - before < mostBytes)
    await pause(50)
  }
  assert.equal(host.ownEnd(), null)
  assert.deepEqual(await host.query('{ __typename }'), { __typename: 'Query' })
})
