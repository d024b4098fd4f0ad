import assert from 'node:assert/strict'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type AppOptions, openApp } from '../../src/app/app.ts'
import { withAppRemedy } from '../../src/app/store-remedies.ts'
import { ServiceError } from '../../src/errors.ts'
import { testNetwork } from '../support/p2p-room.ts'
import { madeView } from './support/made-chain.ts'
import { temporaryFolder } from './support/test-app.ts'

const peer = '/ip4/127.0.0.1/tcp/1/p2p/12D3KooWGRUfgDGAQpN6VWfBiPtdiwzgGNvtdEpYyGJ7BgZyVUYZ'
/** A setting of our programs, such as DB_STORE_PATH. */
const setting = /\b[A-Z]+_[A-Z_]+\b/

async function openAt(t: TestContext, options: Partial<AppOptions>): Promise<void> {
  const path = options.path ?? (await temporaryFolder(t))
  const app = await openApp({
    network: testNetwork,
    views: [madeView],
    peers: [peer],
    ...options,
    path,
  })
  await app.close()
}

async function refusalOf(opened: Promise<void>): Promise<ServiceError> {
  try {
    await opened
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  return assert.fail('it was opened')
}

test('a store that an application cannot use names its options, and no setting of a Host', async (t) => {
  const path = await temporaryFolder(t)
  await openAt(t, { path })
  const ofNetwork = await refusalOf(openAt(t, { path, network: 'Ethereum__Other' }))
  assert.equal(ofNetwork.code, 'STORE_FOREIGN')
  assert.equal(ofNetwork.remedy, 'Choose another `path`, or the `network` of this store.')

  await truncate(join(path, 'data.mdb'), 8_192)
  const ofCut = await refusalOf(openAt(t, { path }))
  assert.equal(ofCut.code, 'STORE_DAMAGED')

  const file = join(path, 'file')
  await writeFile(file, '')
  const ofFile = await refusalOf(openAt(t, { path: file }))
  assert.equal(ofFile.code, 'STORE_PATH_UNUSABLE')
  for (const { remedy = '' } of [ofNetwork, ofCut, ofFile]) {
    assert.match(remedy, /`path`/)
    assert.doesNotMatch(remedy, setting)
  }
})

test('a full disk is reported with what an application can do', () => {
  const full = new ServiceError('STORE_FULL', 'There is no space left.', {
    facts: { path: '/data' },
    remedy: 'Keep fewer blocks (PRUNER_MAX_BLOCKS).',
  })
  const reported = withAppRemedy(full)
  assert.ok(reported instanceof ServiceError)
  assert.equal(reported.message, full.message)
  assert.deepEqual(reported.facts, full.facts)
  assert.match(reported.remedy ?? '', /`maxBytes`/)
  assert.doesNotMatch(reported.remedy ?? '', setting)
})

test('what the store says for any program stays, and so does what is no error of the store', () => {
  const owned = new ServiceError('STORE_PATH_UNUSABLE', 'Permission denied on the data directory', {
    facts: { path: '/data', owner: '0:0', user: '1001:1001' },
    remedy: 'Run chown.',
  })
  const other = new ServiceError('APP_OPTION_INVALID', 'no', { remedy: 'Say yes.' })
  const foreign = new ServiceError('STORE_FOREIGN', 'The store belongs to a host.', {
    facts: { path: '/data', found: 'host', expected: 'app' },
    remedy: 'Choose another directory, or start the host on this one.',
  })
  const lock = new ServiceError('STORE_PATH_UNUSABLE', 'The store cannot be locked.', {
    facts: { path: '/data', file: 'lock' },
    remedy: 'Choose a directory with a shorter path.',
  })
  for (const error of [owned, foreign, lock, other, new Error('broken')])
    assert.equal(withAppRemedy(error), error)
})
