/** A replica of a Host that has nothing, beside one that has: what Generators sealed comes from there too. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { storedHeads } from '../../../src/host/apply/signer-heads.ts'
import { storedHead } from '../../../src/host/stored-range.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { until } from '../../support/p2p-room.ts'
import { openTestGenerator, proofOf } from '../../support/test-generator.ts'
import { storedChain, testDirectory } from '../../support/test-store.ts'
import { openTestHost, type TestHost } from '../support/test-host.ts'

const unready = (host: TestHost): string | undefined => host.status.state().unready?.reason
const longAfter = 10 * 60_000
const alice = testSigner('alice', 'Ed25519').identity
const env = { HOST_TRUSTED_SIGNERS: alice }

/** A Host with so many blocks of a Generator that is gone for good. */
async function openSibling(t: TestContext, from: number, count: number): Promise<TestHost> {
  const chain = createChain({ count, from, shape: shapes.empty })
  const generator = await openTestGenerator(t, 'alice', chain)
  const sibling = await openTestHost(t, { peers: [generator.room.address], env, name: 'sibling' })
  await sibling.reached(from + count - 1)
  await generator.room.p2p.close()
  await until(() => sibling.mesh.p2p.peers().length === 0)
  sibling.pass(longAfter)
  return sibling
}

/** A file of siblings. */
function fileOf(t: TestContext, addresses: readonly string[]): string {
  const path = join(testDirectory(t), 'siblings')
  writeFileSync(path, addresses.join('\n'))
  return path
}

describe('an empty Host whose Generator is gone', () => {
  test('catches up from the sibling in its file, however long that takes', async (t) => {
    const sibling = await openSibling(t, 1, 301)
    const file = fileOf(t, [])
    const host = await openTestHost(t, { env: { ...env, HOST_SIBLINGS_FILE: file } })
    assert.equal(unready(host), 'too-few-blocks')
    const seen = new Set<string | undefined>()
    const watched = host.stored(() => {
      seen.add(unready(host))
      return storedHead(host.reader) === 301
    })
    writeFileSync(file, sibling.address)
    await host.reached(64)
    host.pass(longAfter)
    await watched
    assert.deepEqual([...seen], ['too-few-blocks', 'behind-sibling', undefined])
    assert.deepEqual([unready(host), unready(sibling)], [undefined, undefined])
    assert.equal(host.status.gauges.siblings(), 1)
    assert.deepEqual(storedChain(host.reader), storedChain(sibling.reader))
    assert.deepEqual(host.status.state().gaps, [])
    assert.equal(host.status.state().sourceHead, null)
  })

  test('far up the chain, restarted since it heard that Generator last, catches up too', async (t) => {
    const sibling = await openSibling(t, 5_000, 100)
    const [head = assert.fail()] = storedHeads(sibling.reader, [alice])
    const before = await openTestHost(t, { env })
    assert.equal((await before.writer.receiveHead(head)).kind, 'newer')
    await before.close()
    const file = fileOf(t, [sibling.address])
    const host = await openTestHost(t, {
      env: { ...env, HOST_SIBLINGS_FILE: file },
      path: before.path,
    })
    host.pass(longAfter)
    await host.reached(5_099)
    assert.deepEqual(storedChain(host.reader), storedChain(sibling.reader))
  })
})

describe('a sibling', () => {
  const blocks = createChain({ count: 3, from: 1, shape: shapes.empty })

  test('that proves to be a Generator is no signer', async (t) => {
    const generator = await openTestGenerator(t, 'alice', blocks)
    let asked = 0
    const posing = await openTestGenerator(t, 'mallory', blocks, {
      room: {
        answers: {
          identity: () => {
            asked += 1
            return proofOf(testSigner('mallory', 'Ed25519'), posing.room.id)
          },
        },
      },
    })
    const HOST_SIBLINGS_FILE = fileOf(t, [posing.room.address])
    const host = await openTestHost(t, {
      peers: [generator.room.address],
      env: { HOST_SIBLINGS_FILE },
    })
    await host.captured.line('sibling proves to be a Generator, and is no signer')
    await host.reached(3)
    const signers = host.status.state().signers?.map(({ identity }) => identity)
    assert.deepEqual([signers, asked], [[alice], 1])
    assert.equal(host.trust.identityOf(posing.room.id), null)
    assert.deepEqual(host.trust.hosts(), [])
  })

  test('that proves to be a Host has a vote on rows while the file names it', async (t) => {
    const first = await openTestHost(t, { name: 'first' })
    const { identity } = testSigner('host:first')
    const file = fileOf(t, [])
    const host = await openTestHost(t, { name: 'second', env: { HOST_SIBLINGS_FILE: file } })
    assert.deepEqual(host.trust.hosts(), [])
    writeFileSync(file, [first.address, host.address].join('\n'))
    await host.captured.line('sibling proved a Host’s identity')
    assert.deepEqual(host.trust.hosts(), [{ identity, source: 'sibling', peer: first.id }])
    assert.deepEqual(host.trust.sources(), [])
    assert.deepEqual(first.trust.hosts(), [], 'whose own file does not name the one that dials it')
    const forgotten = new Promise<void>((resolve) => host.trust.onHosts(resolve))
    writeFileSync(file, '')
    await forgotten
    assert.deepEqual(host.trust.hosts(), [])
  })

  test('that shows another Host’s proof, or a stranger behind its address, has no vote', async (t) => {
    const first = await openTestHost(t, { name: 'first' })
    const copied = proofOf(testSigner('host:first'), first.id, 'host')
    const room = { answers: { identity: () => copied } }
    const thief = await openTestGenerator(t, 'mallory', blocks, { room })
    const absent = await openTestHost(t, { name: 'absent' })
    await absent.close()
    const atItsAddress = `${thief.room.address.split('/p2p/')[0]}/p2p/${absent.id}`
    const HOST_SIBLINGS_FILE = fileOf(t, [thief.room.address, atItsAddress])
    const host = await openTestHost(t, { name: 'second', env: { HOST_SIBLINGS_FILE } })
    const fault = await host.captured.line('peer fault')
    assert.deepEqual([fault['peer'], fault['fault']], [thief.room.id, 'reported'])
    await until(() => host.status.state().errors.some(({ code }) => /^P2P_/.test(code)))
    assert.deepEqual(host.trust.hosts(), [])
  })

  test('that is a bootstrap peer as well is asked like any other', async (t) => {
    const generator = await openTestGenerator(t, 'alice', blocks)
    const HOST_SIBLINGS_FILE = fileOf(t, [generator.room.address])
    const host = await openTestHost(t, {
      peers: [generator.room.address],
      env: { HOST_SIBLINGS_FILE },
    })
    await host.reached(3)
    assert.deepEqual([...host.mesh.siblings()], [])
  })
})
