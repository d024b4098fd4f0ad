import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { open } from 'lmdb'
import { pino } from 'pino'
import { openReader } from '../../src/store/read/reader.ts'
import type { StoreReader } from '../../src/store/store.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import {
  namedHash,
  opaqueBlock,
  opaqueNetwork,
  opaqueSeal,
} from '../support/chain/opaque-blocks.ts'
import { openTestStore, testDirectory } from '../support/test-store.ts'

const log = pino({ enabled: false })
const openAt = (path: string): ReturnType<typeof openWriter> =>
  openWriter({ path, network: opaqueNetwork, retainBlocks: null }, { log })
const recordOf = (reader: StoreReader, name: string): string | undefined =>
  reader.read((snapshot) => snapshot.record(name)?.toString())

describe('a record beside the blocks', () => {
  it('is there after a restart, in the order of its names, until it is removed', async (t) => {
    const path = testDirectory(t)
    const store = await openAt(path)
    for (const name of ['head/b', 'head/a', 'pins'])
      await store.putRecord(name, Buffer.from(`value of ${name}`))
    await store.close()
    const again = await openAt(path)
    assert.equal(recordOf(again.reader, 'pins'), 'value of pins')
    assert.equal(recordOf(again.reader, 'head'), undefined)
    again.reader.read((snapshot) =>
      assert.deepEqual(snapshot.recordNames('head/'), ['head/a', 'head/b']),
    )
    await again.putRecord('head/a', null)
    assert.equal(recordOf(again.reader, 'head/a'), undefined)
    await again.close()
  })

  it('can be kept in a store that was made before there were records', async (t) => {
    const path = testDirectory(t)
    const store = await openAt(path)
    await store.putSealedBlock(opaqueBlock(1))
    await store.close()
    const root = open({ path, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' })
    await root.openDB('records', { encoding: 'binary', keyEncoding: 'binary' }).drop()
    await root.close()
    const again = await openAt(path)
    await again.putRecord('pins', Buffer.from('value'))
    const reader = openReader({ path })
    assert.equal(recordOf(reader, 'pins'), 'value')
    assert.deepEqual(
      reader.read((snapshot) => snapshot.range()),
      { tail: 1, head: 1 },
    )
    reader.close()
    await again.close()
  })
})

describe('the chain of a store', () => {
  it('is set once, and kept', async (t) => {
    const path = testDirectory(t)
    const store = await openAt(path)
    assert.equal(store.genesisHash(), null)
    await store.adoptGenesis(namedHash('genesis'))
    await store.adoptGenesis(namedHash('genesis'))
    await store.putSealedBlock(opaqueBlock(1))
    await store.close()
    const again = await openAt(path)
    assert.equal(again.genesisHash(), namedHash('genesis'))
    await assert.rejects(again.adoptGenesis(namedHash('another')), { code: 'STORE_FOREIGN' })
    assert.equal(again.genesisHash(), namedHash('genesis'))
    await again.close()
  })
})

describe('the seals of a height', () => {
  const [alice, bob] = ['02'.repeat(33), '03'.repeat(33)]

  it('are shown to a reader if their signers are', async (t) => {
    const store = await openTestStore(t)
    const { reader } = store
    const seals = [opaqueSeal(1, 'main', alice), opaqueSeal(1, 'main', bob)]
    await store.putSealedBlock({ ...opaqueBlock(1), seals })
    const shown = (): number => reader.read((snapshot) => snapshot.seals(1).length)
    assert.equal(shown(), 2)
    reader.showSealsOf(new Set([alice]))
    assert.equal(shown(), 1)
    reader.read((snapshot) => assert.equal(snapshot.sealsOf(namedHash('main:1')).length, 1))
    reader.showSealsOf(new Set())
    assert.equal(shown(), 0)
    reader.showSealsOf(null)
    assert.equal(shown(), 2)
  })

  it('have their places, of all heights from one to another, if their signers are shown', async (t) => {
    const store = await openTestStore(t)
    const { reader } = store
    for (const height of [4, 5, 6, 7])
      await store.putSeals(height, [opaqueSeal(height, 'main', alice)])
    await store.putSeals(6, [opaqueSeal(6, 'main', bob)])
    const places = () => reader.read((snapshot) => [...snapshot.sealPlaces(5, 6)])
    const place = (height: number, identity = alice) => {
      const { blockHash, merkleRoot } = opaqueSeal(height)
      return { height, blockHash, merkleRoot, identity }
    }
    assert.deepEqual(places(), [place(5), place(6), place(6, bob)])
    reader.showSealsOf(new Set([bob]))
    assert.deepEqual(places(), [place(6, bob)])
  })

  it('are replaced in one transaction, and leave no trace of blocks without documents', async (t) => {
    const store = await openTestStore(t)
    const [kept, other] = [opaqueSeal(5, 'main', alice), opaqueSeal(5, 'other', alice)]
    await store.putSeals(5, [other, opaqueSeal(5, 'shared', alice), opaqueSeal(5, 'shared', bob)])
    await store.putSeals(5, [kept], [other, opaqueSeal(5, 'shared', alice)])
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.sealsOf(namedHash('main:5')), [kept])
      assert.deepEqual(snapshot.sealsOf(namedHash('other:5')), [])
      assert.deepEqual(
        snapshot.sealsOf(namedHash('shared:5')).map((seal) => seal.signatureIdentity),
        [bob],
      )
    })
    const smaller = { ...kept, merkleRoot: '00'.repeat(32) }
    await store.putSeals(5, [smaller], [kept])
    store.reader.read((snapshot) =>
      assert.deepEqual(snapshot.sealsOf(namedHash('main:5')), [smaller]),
    )
  })
})
