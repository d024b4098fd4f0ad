/** How Hosts come by what others signed of rows: real Hosts on loopback. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeDigestsAnswer } from '../../../src/primitives/vote-exchange.ts'
import { encodeRowStatement, type RowStatement } from '../../../src/row-votes/row-statement.ts'
import {
  decodeRowVoteRequest,
  encodeStatementsAnswer,
  type StatementsAnswer,
} from '../../../src/row-votes/row-vote-exchange.ts'
import { countRowVotes } from '../../../src/row-votes/row-votes.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { openRoom, type TestRoom, testNetwork, until } from '../../support/p2p-room.ts'
import { signedStatement } from '../../support/signed-statements.ts'
import { openTestGenerator } from '../../support/test-generator.ts'
import { openTestHost, type TestHost, type TestHostSetup } from '../support/test-host.ts'

const network = testNetwork
const chain = createChain({ count: 5, from: 1, shape: shapes.tiny })
const names = ['first', 'second', 'third'] as const
const signerOf = (name: string): ReturnType<typeof testSigner> => testSigner(`host:${name}`)
const by = (name: string, height: number, isFalse = false): RowStatement => {
  const { hash } = chain[height - 1] ?? assert.fail()
  return signedStatement(height, hash, { signer: signerOf(name), network, isFalse })
}
/** Signs what a Host made of its blocks, as its own signer would. */
const sign = async (host: TestHost, name: string, heights: readonly number[]): Promise<void> => {
  for (const height of heights) await host.writer.putRowStatement(by(name, height), [])
}
const signersAt = (host: TestHost, height: number): string[] =>
  host.reader.read((snapshot) =>
    snapshot
      .rowStatements(height)
      .map(({ signatureIdentity }) => signatureIdentity)
      .sort(),
  )
const heights = chain.map(({ number }) => number)
const identities = names.map((name) => signerOf(name).identity).sort()
const env = { HOST_TRUSTED_HOSTS: identities.join() }

/** A peer that answers about statements as it likes, and says that it has others than anybody. */
function openPosing(
  t: Parameters<typeof openRoom>[0],
  host: TestHost,
  identity: string,
  answer: (from: number) => StatementsAnswer,
): Promise<TestRoom> {
  return openRoom(t, {
    options: { network, bootstrapPeers: [host.address] },
    answers: {
      'row-votes': (question) => {
        const request = decodeRowVoteRequest(question)
        if (request.kind === 'statements') return encodeStatementsAnswer(answer(request.from))
        return encodeDigestsAnswer([{ identity, group: 0, digest: '00'.repeat(16) }])
      },
    },
  })
}

test('three Hosts, one restarted, end with each other’s statements and none of a stranger', async (t) => {
  const generator = await openTestGenerator(t, 'alice', chain)
  const signers = { ...env, HOST_TRUSTED_SIGNERS: generator.signer.identity }
  const setup: TestHostSetup = { env: signers, compareVotesMs: 300 }
  const open = async (name: string, peers: string[], path?: string): Promise<TestHost> => {
    const host = await openTestHost(t, {
      ...setup,
      name,
      peers,
      ...(path !== undefined && { path }),
    })
    await generator.publishHead()
    await host.reached(5)
    return host
  }
  const first = await open('first', [generator.room.address])
  const second = await open('second', [generator.room.address, first.address])
  const third = await open('third', [generator.room.address, first.address])
  const stranger = await open('stranger', [generator.room.address, first.address])
  await sign(first, 'first', heights)
  await sign(stranger, 'stranger', heights)
  await third.close()
  await sign(second, 'second', heights)
  const again = await open('third', [generator.room.address, first.address], third.path)
  await sign(again, 'third', heights)
  const hosts = [first, second, again]
  await until(() =>
    hosts.every((host) => heights.every((height) => signersAt(host, height).length >= 3)),
  )
  for (const host of hosts)
    for (const height of heights) assert.deepEqual(signersAt(host, height), identities)
  const [votes] = first.reader.read((snapshot) =>
    countRowVotes(snapshot.rowStatements(5), new Set(identities)),
  )
  assert.deepEqual(votes?.votes[0]?.hosts, identities)
  await until(async () => /row_statements_taken_total 10/.test(await first.registry.metrics()))
})

test('a Host that is accepted later has its statements fetched at once', async (t) => {
  const generator = await openTestGenerator(t, 'alice', chain)
  const peers = [generator.room.address]
  const before = await openTestHost(t, { name: 'first', peers })
  await before.reached(5)
  await before.close()
  // It has all blocks, so that it compares nothing for having caught up.
  const first = await openTestHost(t, {
    name: 'first',
    path: before.path,
    compareVotesMs: 600_000,
  })
  const second = await openTestHost(t, {
    name: 'second',
    peers: [...peers, first.address],
    env: { HOST_TRUSTED_SIGNERS: generator.signer.identity },
  })
  await generator.publishHead()
  await second.reached(5)
  await sign(second, 'second', heights)
  first.trust.setBootstrapPeers([second.address], true)
  const { identity } = signerOf('second')
  await until(() => heights.every((height) => signersAt(first, height).includes(identity)))
})

test('a peer that sends forged statements is blamed, and nothing of its page stays', async (t) => {
  const generator = await openTestGenerator(t, 'alice', chain)
  const host = await openTestHost(t, { peers: [generator.room.address], env })
  await host.reached(5)
  const forged = { ...by('first', 5), signatureValue: by('first', 4).signatureValue }
  const statements = [by('first', 4), forged].map(encodeRowStatement)
  const liar = await openPosing(t, host, signerOf('first').identity, () => ({
    statements,
    next: null,
  }))
  const fault = await host.captured.line('peer fault')
  assert.equal(fault['peer'], liar.id)
  assert.equal(fault['detail'], 'statements about rows that do not fit')
  for (const height of heights) assert.deepEqual(signersAt(host, height), [])
})

test('a peer whose pages do not go on is not asked for more', async (t) => {
  const generator = await openTestGenerator(t, 'alice', chain)
  const host = await openTestHost(t, { peers: [generator.room.address], env })
  await host.reached(5)
  const { identity } = signerOf('first')
  const asked: number[] = []
  await openPosing(t, host, identity, (from) => {
    asked.push(from)
    return { statements: [encodeRowStatement(by('first', from))], next: from < 3 ? from + 1 : 3 }
  })
  await until(() => signersAt(host, 3).length === 1)
  const last = Promise.withResolvers<void>()
  await openPosing(t, host, signerOf('second').identity, () => {
    last.resolve()
    return { statements: [], next: null }
  })
  await last.promise
  // It may have begun again, as it compares once more when it has caught up.
  assert.deepEqual(
    asked,
    asked.map((_, index) => 1 + (index % 3)),
  )
})
