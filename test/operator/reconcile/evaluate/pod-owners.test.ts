import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1OwnerReference, V1StatefulSet } from '@kubernetes/client-node'
import type { Host } from '../../../../operator/api.ts'
import { podOwnerChanges } from '../../../../operator/reconcile/evaluate/pod-owners.ts'
import { keepPod } from '../../../../operator/reconcile/observe/pod.ts'
import { ownerReference, selectorLabels } from '../../../../operator/resources/names/metadata.ts'
import { podName } from '../../../../operator/resources/names/names.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const host = readHost('host-minimal')
const former: Host = { ...host, metadata: { ...host.metadata, uid: 'former' } }
const set: V1StatefulSet = { metadata: { name: 'mainnet-host', uid: 'set' } }
const setOwner = (uid: string): V1OwnerReference => {
  const controller = true
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'mainnet-host', uid, controller }
}
const ofSet = setOwner('set')
const own = ownerReference(host)

interface Given {
  readonly owners?: readonly V1OwnerReference[]
  readonly labels?: Readonly<Record<string, string>>
  readonly deletionTimestamp?: Date
  readonly live?: V1StatefulSet | null
  readonly areStray?: boolean
}

/** What is done about the only pod: it gets the resource as an owner, or loses it. */
function changeOf({ owners = [], live = null, ...given }: Given): 'own' | 'release' | 'nothing' {
  const { labels = selectorLabels(host), deletionTimestamp } = given
  const metadata = { name: podName(host, 0), uid: 'pod', labels, ownerReferences: [...owners] }
  const deletion = deletionTimestamp === undefined ? {} : { deletionTimestamp }
  const pods = new Map([[0, keepPod({ metadata: { ...metadata, ...deletion } })]])
  const changes = podOwnerChanges(host, { pods, set: live }, given.areStray ?? live === null)
  if (changes.own.length > 0) return 'own'
  return changes.release.length > 0 ? 'release' : 'nothing'
}

test('a pod without a StatefulSet goes with its resource, until one has adopted it', () => {
  assert.equal(changeOf({}), 'own')
  assert.equal(changeOf({ owners: [own] }), 'nothing')
  assert.equal(changeOf({ owners: [own], live: set }), 'nothing', 'not adopted yet')
  assert.equal(changeOf({ owners: [own, ofSet], live: set }), 'release')
  assert.equal(changeOf({ owners: [ofSet], live: set }), 'nothing')
})

test('a pod is owned before its StatefulSet is removed without it, and stays so', () => {
  assert.equal(changeOf({ owners: [ofSet], live: set, areStray: true }), 'own')
  assert.equal(changeOf({ owners: [ofSet, own], live: set, areStray: true }), 'nothing')
})

test('a pod that a StatefulSet is about to adopt is left to it', () => {
  assert.equal(changeOf({ live: set }), 'nothing')
})

test('a pod that is going, of others, or of a deleted resource of the name is left alone', () => {
  assert.equal(changeOf({ deletionTimestamp: new Date(0) }), 'nothing')
  assert.equal(changeOf({ owners: [setOwner('another')] }), 'nothing')
  assert.equal(changeOf({ owners: [ownerReference(former)] }), 'nothing')
  assert.equal(
    changeOf({ labels: { ...selectorLabels(host), 'app.kubernetes.io/instance': 'x' } }),
    'nothing',
  )
  assert.equal(changeOf({ labels: {} }), 'nothing')
})
