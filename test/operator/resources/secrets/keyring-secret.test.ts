import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toBase64 } from '../../../../operator/resources/names/secret.ts'
import {
  addKeys,
  keyringFingerprint,
  keyringSecret,
} from '../../../../operator/resources/secrets/keyring-secret.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const host = readHost('host-full')
const kept = {
  ...host,
  spec: { ...host.spec, identity: { deletionPolicy: 'Retain' as const } },
}

test('the keyring stays when the resource goes, unless the spec says otherwise', () => {
  const keys = new Map([[0, 'one']])
  assert.equal(keyringSecret(kept, keys).metadata?.ownerReferences, undefined)
  assert.deepEqual(keyringSecret(host, keys).metadata?.ownerReferences, [
    { apiVersion: 'viewmesh.io/v1alpha1', kind: 'Host', name: 'public', uid: host.metadata.uid },
  ])
})

test('keys are added only to the Secret as it was read, so that none is ever written over', () => {
  const secret = { metadata: { resourceVersion: '7' }, data: { 0: toBase64('one') } }
  assert.deepEqual(addKeys(secret, new Map([[1, 'two']])), [
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/data/1', value: toBase64('two') },
  ])
})

test('keys can be added to a Secret without any', () => {
  assert.deepEqual(addKeys({ metadata: { resourceVersion: '7' } }, new Map([[0, 'one']])), [
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/data', value: {} },
    { op: 'add', path: '/data/0', value: toBase64('one') },
  ])
})

test('a fingerprint distinguishes keys, never changes, and ignores a line break at the end', async () => {
  const generated = 'Xk2vLq8sT0aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456'
  assert.equal(await keyringFingerprint(generated), '201d9061e22ceb80')
  assert.equal(await keyringFingerprint('correct horse'), 'f90364d7670d9e02')
  assert.equal(
    await keyringFingerprint('correct horse\n'),
    await keyringFingerprint('correct horse'),
  )
  assert.notEqual(await keyringFingerprint('correct horse '), 'f90364d7670d9e02')
})
