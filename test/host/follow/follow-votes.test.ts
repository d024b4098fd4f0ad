/** What followers hear of who signed and sealed the blocks that they have, also later. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RowStatement } from '../../../src/row-votes/row-statement.ts'
import { signSeal, testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'
import { signedLeaves } from '../../support/signed-statements.ts'
import { engineChain } from '../views/engine/support/engine-room.ts'
import { hasSigned, heights, kinds, logs, untilSigned } from './support/follow-checks.ts'
import { type FollowRoom, openFollowRoom } from './support/follow-room.ts'

const [followed, other] = [logs(1), logs(2)]
const times = { checkMs: 20 }

/** What another Host signs of the same rows. */
function copied({ store }: FollowRoom, height: number, name: string): RowStatement {
  const [own] = store.reader.read((snapshot) => snapshot.rowStatements(height))
  const { blockHash, leaves } = own ?? assert.fail('the Host signed the block')
  return signedLeaves(height, blockHash, leaves, { signer: testSigner(name), network: testNetwork })
}

describe('a follower', () => {
  it('gets what other Hosts signed with a block, and what they sign later', async (t) => {
    const room = await openFollowRoom(t, { times })
    room.serve(followed, other)
    await room.put(engineChain(3))
    await untilSigned(room, heights(3))
    for (const height of heights(3))
      await room.store.putRowStatements(height, [copied(room, height, 'first')])
    const client = await room.follow({ views: [followed], from: 100 })
    const votes = (count: number): boolean =>
      heights(3).every((height) => client.signersOf(followed.id, height).length === count)
    await client.until(() => votes(2))
    const block = ['seals', 'rows', 'statement', 'votes']
    assert.deepEqual(kinds(client), ['welcome', ...block, ...block, ...block])
    for (const height of heights(3))
      await room.store.putRowStatements(
        height,
        heights(70).map((number) => copied(room, height, `Host ${number}`)),
      )
    await client.until(() => votes(72))
  })

  it('gets what this Host signed while that is being stored, once', async (t) => {
    const { promise: storing, resolve } = Promise.withResolvers<void>()
    const longer = { checkMs: 3_600_000, headMs: 3_600_000 }
    const room = await openFollowRoom(t, { times: longer, storing })
    room.serve(followed)
    await room.put(engineChain(1))
    const client = await room.follow({ views: [followed], from: 100 })
    await client.until(() => hasSigned(client, followed, [100]))
    const statements = (): number =>
      room.store.reader.read((snapshot) => snapshot.rowStatements(100).length)
    assert.equal(statements(), 0)
    resolve()
    await untilSigned(room, [100])
    await room.put(engineChain(2).slice(1))
    await client.until(() => hasSigned(client, followed, [101]))
    assert.equal(kinds(client).filter((kind) => kind === 'statement').length, 2)
  })

  it('gets seals that come later', async (t) => {
    const room = await openFollowRoom(t, { times })
    room.serve(followed)
    const [block] = engineChain(1)
    const { header } = block ?? assert.fail()
    await room.put(engineChain(1))
    const client = await room.follow({ views: [followed], from: 100 })
    await client.until(() => hasSigned(client, followed, [100]))
    const { number, hash } = header
    const cids = [Buffer.from('of another node')]
    const signer = testSigner('another Generator')
    const later = signSeal({ network: testNetwork, number, hash, cids }, signer)
    await room.store.putSeals(100, [later])
    const known = (): number => client.seals.get(`100 ${header.hash}`)?.size ?? 0
    await client.until(() => known() === 2)
  })

  it('gets seals that came while it was away', async (t) => {
    const room = await openFollowRoom(t, { times })
    room.serve(followed)
    const [block] = engineChain(1)
    const { header } = block ?? assert.fail()
    await room.put(engineChain(1))
    await untilSigned(room, [100])
    const { number, hash } = header
    const cids = [Buffer.from('of another node')]
    const signer = testSigner('another Generator')
    await room.store.putSeals(100, [signSeal({ network: testNetwork, number, hash, cids }, signer)])
    const client = await room.follow({ views: [{ ...followed, cursor: [{ number, hash }] }] })
    await client.until(() => client.seals.get(`100 ${hash}`)?.size === 2)
    assert.equal(client.rows.get(followed.id)?.size ?? 0, 0)
  })

  it('gets the signatures of blocks that were signed long after they were sent', async (t) => {
    const room = await openFollowRoom(t, { isSigning: false })
    room.serve(followed)
    await room.put(engineChain(90))
    const client = await room.follow({ views: [followed], from: 100 })
    await client.until(() => client.rows.get(followed.id)?.size === 90)
    assert.ok(!kinds(client).includes('statement'))
    room.beginSigning()
    await client.until(() => hasSigned(client, followed, heights(90)))
    assert.equal(kinds(client).filter((kind) => kind === 'statement').length, 90)
  })

  it('gets nothing twice of what says no more of its Views', async (t) => {
    const room = await openFollowRoom(t, { times })
    room.serve(followed)
    await room.put(engineChain(2))
    const client = await room.follow({ views: [followed], from: 100 })
    await client.until(() => hasSigned(client, followed, heights(2)))
    room.serve(other)
    await room.put(engineChain(3).slice(2))
    await client.until(() => hasSigned(client, followed, heights(3)))
    assert.equal(kinds(client).filter((kind) => kind === 'statement').length, 3)
  })
})
