import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDirectory } from '../../../src/store/disk/make-directory.ts'
import { testDirectory } from '../../support/test-store.ts'

test('a directory is made with its parents, all with the same rights, and may exist already', (t) => {
  const top = testDirectory(t)
  for (const path of [join(top, 'a/b/c'), join(top, 'a/b/c'), join(top, 'a/b/d')])
    makeDirectory(path, 0o700)
  assert.deepEqual(readdirSync(join(top, 'a/b')), ['c', 'd'])
  for (const path of ['a', 'a/b', 'a/b/c']) {
    assert.equal(statSync(join(top, path)).mode & 0o777, 0o700)
  }
})

test('a directory below a file is refused', (t) => {
  const top = testDirectory(t)
  writeFileSync(join(top, 'file'), '')
  assert.throws(() => makeDirectory(join(top, 'file', 'a', 'b')), { code: 'ENOTDIR' })
})

test('a file system that takes no directories is reported, and not retried for ever', {
  skip: !existsSync('/proc/self'),
}, () => {
  assert.throws(() => makeDirectory('/proc/viewmesh/store'), { syscall: 'mkdir' })
})
