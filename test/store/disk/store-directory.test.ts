/** What is refused of the directory of a store before anything is made. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import {
  hasStore,
  requireUsableStore,
  writeFailure,
} from '../../../src/store/disk/store-directory.ts'
import { testDirectory } from '../../support/test-store.ts'

describe('a store can be opened or made', () => {
  it('in a directory, and where none is yet, which is not made', (t) => {
    const path = testDirectory(t)
    requireUsableStore(path)
    requireUsableStore(join(path, 'not', 'there.yet'))
    assert.deepEqual([readdirSync(path), hasStore(path)], [[], false])
    writeFileSync(join(path, 'data.mdb'), '')
    requireUsableStore(path)
    assert.ok(hasStore(path))
  })

  it('neither in a file nor below one, nor where a file of it is a directory', (t) => {
    const path = testDirectory(t)
    const file = join(path, 'file')
    writeFileSync(file, '')
    mkdirSync(join(path, 'lock.mdb'))
    for (const [place, found] of [
      [file, `${file} is no directory`],
      [join(file, 'store'), `${file} is no directory`],
      [path, `${join(path, 'lock.mdb')} is no file`],
    ] as const)
      assert.throws(() => requireUsableStore(place), {
        code: 'STORE_PATH_UNUSABLE',
        message: `The store directory ${place} cannot be used: ${found}`,
        facts: { path: place, found },
      })
  })
})

describe('a write that failed', () => {
  it('is named with its path and reason, unless that was done already', (t) => {
    const path = testDirectory(t)
    const cause = new Error('input/output error')
    const { code, facts } = writeFailure(path, cause)
    assert.deepEqual([code, facts], ['STORE_WRITE_FAILED', { path, found: cause.message }])
    const named = new ServiceError('STORE_DAMAGED', 'damaged')
    assert.equal(writeFailure(path, named), named)
    assert.deepEqual(readdirSync(path), [])
  })

  it('has its reason also where the directory is gone', (t) => {
    const path = join(testDirectory(t), 'gone')
    assert.equal(writeFailure(path, new Error('gone')).code, 'STORE_WRITE_FAILED')
  })
})
