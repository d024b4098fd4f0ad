/** A hundred thousand messages of people without an accepted key, checked by one Host and kept from its twin. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { sealBlock, type TestSealedBlock, testNetwork } from '../../support/chain/sealed-blocks.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { storedChain } from '../../support/test-store.ts'
import { createHostileMessages, type HostileMessage } from '../support/hostile-messages.ts'
import { alice, bob, openApplier, type TestApplier } from './open-applier.ts'

const messages = 100_000
const blocks = createChain({ count: 40, from: 1, shape: shapes.tiny })

/** What is stored and said, but for the times at which something was heard. */
function seen({ applier, store }: TestApplier): unknown {
  const { signers, ...state } = applier.state()
  const chain = storedChain(store.reader)
  return {
    chain,
    seals: chain.map(([height]) =>
      store.reader.read((snapshot) =>
        snapshot
          .seals(height)
          .map(({ blockHash, merkleRoot, signatureIdentity }) => [
            blockHash,
            merkleRoot,
            signatureIdentity,
          ]),
      ),
    ),
    range: store.reader.read((snapshot) => snapshot.range()),
    signers: signers.map(({ heardAt, ...signer }) => ({ ...signer, isHeard: heardAt !== null })),
    ...state,
  }
}

test(`${messages} altered, forged and replayed messages leave a Host equal to its honest twin`, async (t) => {
  const accepted = [alice, bob]
  const host = await openApplier(t, { accepted })
  const twin = await openApplier(t, { accepted })
  const random = createSeededRandom('storm')
  const sealed = blocks.flatMap((block) => accepted.map((signer) => sealBlock(block, signer)))
  const known: TestSealedBlock[] = []
  const said: Uint8Array[] = []
  const next = createHostileMessages(random, { network: testNetwork, blocks: known, heads: said })
  const kinds = new Set<string>()
  const take = async ({ kind, bytes }: HostileMessage): Promise<void> => {
    if (kind === 'head') kinds.add(host.applier.receiveHead(bytes).kind)
    else if (kind === 'seals') await host.applier.receiveSeals(bytes)
    else kinds.add((await host.applier.receive(bytes, random.int(2) === 0)).outcome.kind)
  }

  for (const [index, { number, hash }] of blocks.entries()) {
    const heads = accepted.map((signer) =>
      headMessage(signer, { network: testNetwork, number, hash, sequence: index + 1 }),
    )
    const fresh = sealed.slice(2 * index, 2 * index + 2)
    for (const each of [host, twin]) {
      await each.pass(1_000)
      for (const head of heads) assert.equal(each.applier.receiveHead(head).kind, 'newer')
      for (const block of fresh) await each.receive(block)
    }
    known.push(...fresh)
    said.push(...heads)
    const share = messages / blocks.length
    for (let at = 0; at < share; at += 100)
      await Promise.all(Array.from({ length: 100 }, () => take(next())))
    assert.deepEqual(seen(host), seen(twin), `after block ${number}`)
  }
  assert.ok(kinds.has('breach'))
  assert.equal(storedChain(host.store.reader).length, blocks.length)
})
