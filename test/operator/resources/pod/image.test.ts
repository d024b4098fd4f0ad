import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageOf } from '../../../../operator/resources/pod/image.ts'

const ours = 'registry.example.org:5000/viewmesh/host:0.1.0'
const pinned = `${ours}@sha256:${'a'.repeat(64)}`
const digest = `sha256:${'b'.repeat(64)}`
const pullPolicy = 'IfNotPresent'

test('where the spec names no image, the operator’s runs, with its digest', () => {
  assert.equal(imageOf({ pullPolicy }, pinned), pinned)
  assert.equal(imageOf({ repository: '', tag: '', digest: '', pullPolicy }, ours), ours)
})

test('a tag or a digest of the spec goes before the operator’s', () => {
  const repository = 'registry.example.org:5000/viewmesh/host'
  assert.equal(imageOf({ tag: '0.2.0', pullPolicy }, pinned), `${repository}:0.2.0`)
  assert.equal(imageOf({ digest, pullPolicy }, pinned), `${repository}@${digest}`)
  assert.equal(imageOf({ tag: '0.2.0', digest, pullPolicy }, pinned), `${repository}@${digest}`)
  for (const untagged of ['host', 'x/host', 'localhost:5000/host'])
    assert.equal(imageOf({ tag: '9', pullPolicy }, untagged), `${untagged}:9`)
})

test('from another repository the same tag is pulled, never the same digest', () => {
  const repository = 'mirror.example.org/host'
  assert.equal(imageOf({ repository, pullPolicy }, pinned), `${repository}:0.1.0`)
  assert.equal(imageOf({ repository, pullPolicy }, `x/host@${digest}`), repository)
  assert.equal(imageOf({ repository, tag: '9', pullPolicy }, pinned), `${repository}:9`)
})
