/** Who may keep a Host from comparing votes with others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { openRoom, until } from '../../support/p2p-room.ts'
import { openTestGenerator } from '../../support/test-generator.ts'
import { openTestHost } from '../support/test-host.ts'

test('strangers that take their time with every answer keep no votes of configured peers away', async (t) => {
  const chain = createChain({ count: 5, from: 1, shape: shapes.tiny })
  const alice = await openTestGenerator(t, 'alice', chain)
  const bob = await openTestGenerator(t, 'bob', chain)
  const host = await openTestHost(t, { peers: [alice.room.address] })
  await host.reached(5)
  const answering = Promise.withResolvers<null>()
  const asked = new Set<number>()
  for (let stranger = 0; stranger < 5; stranger += 1) {
    await openRoom(t, {
      options: { network: 'Local__Devnet', bootstrapPeers: [host.address] },
      answers: {
        votes: () => {
          asked.add(stranger)
          return answering.promise
        },
      },
    })
  }
  await until(() => asked.size === 4)

  host.setBootstrapPeers([alice.room.address, bob.room.address])
  const signers = (height: number): number =>
    host.reader.read((snapshot) => snapshot.seals(height).length)
  await until(() => chain.every(({ number }) => signers(number) === 2))
  assert.equal(asked.size, 4, 'so many strangers at a time')
  answering.resolve(null)
})

test('a peer whose answer about votes cannot be read is blamed', async (t) => {
  const chain = createChain({ count: 5, from: 1, shape: shapes.tiny })
  const alice = await openTestGenerator(t, 'alice', chain)
  const host = await openTestHost(t, { peers: [alice.room.address] })
  await host.reached(5)
  const liar = await openRoom(t, {
    options: { network: 'Local__Devnet', bootstrapPeers: [host.address] },
    answers: { votes: () => Buffer.from('no answer') },
  })
  const fault = await host.captured.line('peer fault')
  assert.equal(fault['peer'], liar.id)
  assert.equal(fault['detail'], 'an answer about votes that cannot be read')
})
