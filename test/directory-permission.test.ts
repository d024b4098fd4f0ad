import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  isPermissionDenied,
  nearestExisting,
  permissionDetails,
} from '../src/directory-permission.ts'
import { testDirectory } from './support/test-store.ts'

test('a permission is lacking where a system call says so', () => {
  for (const code of ['EACCES', 'EPERM'])
    assert.ok(isPermissionDenied(Object.assign(new Error('no'), { code })))
  for (const other of [{ code: 'ENOENT' }, new Error('EACCES'), null, undefined, 'EPERM'])
    assert.ok(!isPermissionDenied(other))
})

test('of what does not exist the nearest directory above that does is found', (t) => {
  const path = testDirectory(t)
  for (const below of ['', 'a', 'a/b']) assert.equal(nearestExisting(join(path, below)), path)
  assert.equal(nearestExisting('/'), '/')
})

test('a directory that is ours lacks what its owner may do with it', (t) => {
  const path = testDirectory(t)
  const user = `${process.geteuid?.()}:${process.getegid?.()}`
  assert.deepEqual(permissionDetails(path), {
    facts: { path, owner: user, user },
    remedy: `Stop, change ownership of the data directories to ${user} (chown -R ${user} ${path} && chmod -R u+rwX ${path}), start.`,
  })
})
