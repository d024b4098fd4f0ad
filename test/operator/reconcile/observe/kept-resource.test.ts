import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodTemplate } from '../../../../operator/api/pod-template.ts'
import type { Host } from '../../../../operator/api.ts'
import {
  keepResource,
  templateProblem,
} from '../../../../operator/reconcile/observe/kept-resource.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { reconcileRoom } from '../../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)

/** A Host whose pod template has so many characters in JSON. */
function hostWith(length: number): Host {
  const fill = 'a'.repeat(length - '{"unknown":""}'.length)
  return { ...host, spec: { ...host.spec, podTemplate: { unknown: fill } as PodTemplate } }
}

test('a pod template of 128 KiB is kept as it is, a larger one is not kept', () => {
  const [fits, large] = [hostWith(131_072), hostWith(131_073)]
  assert.deepEqual(keepResource(fits).spec, fits.spec)
  assert.equal(templateProblem(keepResource(fits)), null)
  assert.deepEqual(keepResource(host).spec, host.spec)
  const kept = keepResource(large)
  assert.ok(JSON.stringify(kept).length < 10_000)
  assert.equal(templateProblem(kept)?.reason, 'InvalidSpec')
})

test('of metadata what is read is kept, of labels no more than 64 KiB', () => {
  const labelled = (length: number): Host => {
    const labels = { tier: 'a'.repeat(length - '{"tier":""}'.length) }
    const odd = { finalizers: ['a/b'], ownerReferences: [{}], selfLink: '/' }
    return { ...host, metadata: { ...host.metadata, ...read, ...odd, labels } }
  }
  const read = {
    annotations: { 'viewmesh.io/reconcile-at': 'now' },
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: '2026-01-02T00:00:00Z',
  }
  const [fits, large] = [labelled(65_536), labelled(65_537)]
  const { labels } = fits.metadata
  assert.deepEqual(keepResource(fits), { ...host, metadata: { ...host.metadata, ...read, labels } })
  assert.equal(keepResource(large).metadata.labels, undefined)
})

test('a Host with a pod template that is too large is left as it is, and says so until it fits', async () => {
  await room.put(host)
  await room.reconcile(host)
  await room.start(host)
  await room.reconcile(host)
  room.writes()
  const podTemplate = {
    spec: { containers: [], unknown: Array.from({ length: 70_000 }, () => []) },
  }
  await room.put({ ...room.read('Host', 'mainnet'), ...{ spec: { ...host.spec, podTemplate } } })
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
  const { reason, message } = room.condition(host, 'Stalled') ?? {}
  assert.equal(reason, 'InvalidSpec')
  assert.match(message ?? '', /^spec\.podTemplate has more than 131072 characters in JSON/)
  await room.put({ ...room.read('Host', 'mainnet'), ...{ spec: host.spec } })
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled'), undefined)
  assert.deepEqual(room.writes(), [])
})
