import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { dataFile } from '../../../src/store/disk/environment.ts'
import { pageBytes, storeFormat } from '../../../src/store/disk/layout.ts'
import {
  checkChain,
  checkFile,
  completeIdentity,
  type Expected,
  newIdentity,
} from '../../../src/store/disk/store-identity.ts'
import { testDirectory } from '../../support/test-store.ts'

const network = 'Ethereum__Mainnet'
const expected: Expected = { path: '/store', network }
const mainnet: Expected = { ...expected, genesisHash: '0xaa', program: 'host' }

describe('a file is taken for a store', () => {
  /** An LMDB file of this data version, with nothing in it. */
  const startOf = (version: number): Buffer => {
    const bytes = Buffer.alloc(2 * pageBytes)
    bytes.writeUInt32LE(0xbeefc0de, 24)
    bytes.writeUInt16LE(version, 28)
    return bytes
  }
  const cases: readonly [string, Buffer, string | null][] = [
    ['where it is empty', Buffer.alloc(0), null],
    ['where it begins as LMDB’s', startOf(2), null],
    ['unlike one that ends within its beginning', startOf(2).subarray(0, 31), 'no LMDB file'],
    ['unlike one that begins in another way', Buffer.alloc(32, 1), 'no LMDB file'],
    ['unlike one of an older LMDB', startOf(1), 'LMDB data version 1'],
  ]
  for (const [what, start, found] of cases)
    it(what, (t) => {
      const path = testDirectory(t)
      writeFileSync(join(path, dataFile), start)
      if (found === null) return checkFile(path)
      assert.throws(() => checkFile(path), {
        code: 'STORE_FORMAT_UNKNOWN',
        message: new RegExp(`^The store at ${path} is of an unknown format: .*${found}, expected`),
      })
    })

  it('unlike what cannot be read as a file', (t) => {
    const path = testDirectory(t)
    mkdirSync(join(path, dataFile))
    assert.throws(() => checkFile(path), { code: 'EISDIR' })
  })

  it('where there is none', (t) => checkFile(testDirectory(t)))
})

describe('the identity of a store', () => {
  it('holds what is known when it is made, and a seed of its own', () => {
    const { seed, ...made } = newIdentity(mainnet)
    assert.deepEqual(made, { format: storeFormat, network, genesisHash: '0xaa', program: 'host' })
    assert.notDeepEqual(newIdentity(mainnet).seed, seed)
    assert.ok(seed.every((word) => word === (word | 0)))
    const { genesisHash, program } = newIdentity(expected)
    assert.deepEqual([genesisHash, program], [null, null])
  })

  it('is completed by what a program knows, and never changed', () => {
    const unknown = { ...newIdentity(expected), format: 1 }
    const complete = completeIdentity(unknown, mainnet)
    assert.deepEqual(complete, { ...newIdentity(mainnet), seed: unknown.seed })
    assert.deepEqual(completeIdentity(complete, expected), complete)
    const other = { ...expected, genesisHash: '0xbb', program: 'app' } as const
    assert.deepEqual(completeIdentity(complete, other), complete)
  })

  it('is of another chain where both genesis blocks are known and differ', () => {
    const other = { ...expected, genesisHash: '0xbb' }
    assert.throws(() => checkChain(newIdentity(mainnet), other), {
      code: 'STORE_FOREIGN',
      message: 'The store at /store belongs to the genesis block 0xaa, not to 0xbb.',
    })
    checkChain(newIdentity(mainnet), mainnet)
    checkChain(newIdentity(mainnet), expected)
    checkChain(newIdentity(expected), mainnet)
  })
})
