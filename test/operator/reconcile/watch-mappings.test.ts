import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition } from '../../../operator/api/status.ts'
import type { Generator, Host, Resource } from '../../../operator/api.ts'
import { startWatches } from '../../../operator/reconcile/watch-mappings.ts'
import { hostObjects } from '../../../operator/resources/host-objects.ts'
import { viewConfigMap } from '../../../operator/resources/objects/view-config-maps.ts'
import type { Change } from '../../../operator/runtime/cache/object-cache.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { hostContext, readGenerator, readHost } from '../../support/resources/operator-cases.ts'
import { registration, viewWith } from '../../support/resources/view-cases.ts'
import { viewOf } from '../support/operator-view.ts'

function hostOf(name: string, observedGeneration?: number): KubernetesObject {
  return {
    apiVersion: 'viewmesh.io/v1alpha1',
    kind: 'Host',
    metadata: { namespace: 'apps', name, generation: 2 },
    status: { observedGeneration },
  } as KubernetesObject
}

function readyCondition(status: 'True' | 'False'): Condition {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  return { type: 'Ready', status, reason: status, message: '', lastTransitionTime }
}

test('an operator that starts begins with what was changed while none was at work', () => {
  const added: string[] = []
  const add = (key: string, urgency: string): void => void added.push(`${key} ${urgency}`)
  const view = viewOf([hostOf('level', 2), hostOf('edited', 1), hostOf('new')])
  startWatches(view, { Generator: { add }, Host: { add }, View: { add } })
  assert.deepEqual(added, ['apps/level resync', 'apps/edited user', 'apps/new user'])
})

test('what can no longer be read in a namespace has the resources in there reconciled', () => {
  const turns = new Map<string, () => void>()
  const elsewhere = { ...hostOf('far', 2), metadata: { namespace: 'others', name: 'far' } }
  const distant = viewWith('distant', { registryID: `0x${'1'.repeat(64)}` }, 'others')
  const view = viewOf([hostOf('near', 2), elsewhere, distant as KubernetesObject])
  const reflectors = view.reflectors.map((reflector) => ({
    ...reflector,
    namespace: 'apps',
    onTurn: (listener: () => void) => {
      turns.set(reflector.type.kind, listener)
      return () => undefined
    },
  }))
  const added: string[] = []
  const add = (key: string, urgency: string): void => void added.push(`${key} ${urgency}`)
  startWatches({ ...view, reflectors }, { Generator: { add }, Host: { add }, View: { add } })
  added.length = 0
  turns.get('Pod')?.()
  assert.deepEqual(added, ['apps/near owned'])
  turns.get('Generator')?.()
  assert.deepEqual(added, ['apps/near owned', 'apps/near owned', 'others/far owned'])
})

/** What is reconciled because of changes in a cluster where these objects were before. */
function watched(...objects: readonly object[]) {
  const view = viewOf(objects as readonly KubernetesObject[])
  const added: string[] = []
  const of = (kind: string) => ({
    add: (key: string, urgency: string) => void added.push(`${kind} ${key} ${urgency}`),
  })
  startWatches(view, { Generator: of('Generator'), Host: of('Host'), View: of('View') })
  const addedBy = (change: (reflector: (typeof view.reflectors)[number]) => void): string[] => {
    added.length = 0
    for (const reflector of view.reflectors) change(reflector)
    return [...new Set(added)].toSorted()
  }
  return {
    put: (object: object) => addedBy((reflector) => reflector.put(object as KubernetesObject)),
    remove: ({ kind, metadata }: Resource) =>
      addedBy(({ type, forget }) => {
        if (type.kind === kind) forget(`${metadata.namespace}/${metadata.name}`, metadata.uid)
      }),
  }
}

const plain = readHost('host-minimal')
const { namespace: apps } = plain.metadata
const mainnet = `Host ${apps}/mainnet`
const changedTo = <R extends Resource>(resource: R, metadata: object, more: object = {}): R => ({
  ...resource,
  ...more,
  metadata: { ...resource.metadata, ...metadata },
})

test('a resource is reconciled when people change it, and not when its status is written', () => {
  const { put, remove } = watched(plain)
  assert.deepEqual(put(changedTo(plain, {}, { status: { pods: '1/1' } })), [])
  for (const metadata of [
    { generation: 7 },
    { generation: 7, labels: { tier: 'public' } },
    { generation: 7, annotations: { 'viewmesh.io/reconcile-at': 'now' } },
    { generation: 7, annotations: { 'viewmesh.io/reconcile-at': 'later' } },
    { generation: 7, deletionTimestamp: '2026-01-01T00:00:00Z' },
  ])
    assert.deepEqual(put(changedTo(plain, metadata)), [`${mainnet} user`])
  assert.deepEqual(remove(plain), [`${mainnet} user`])
  assert.deepEqual(put(changedTo(plain, { uid: 'the next' })), [`${mainnet} user`])
})

test('what a new list shows to be as it was seen last does not go before what people change', () => {
  const listeners: ((change: Change<Host>) => void)[] = []
  const view = viewOf([])
  const { Host } = view.resources
  const resources = {
    ...view.resources,
    Host: {
      ...Host,
      onChange: (listener: (typeof listeners)[number]) => void listeners.push(listener),
    },
  }
  const added: string[] = []
  const add = (_: string, urgency: string): void => void added.push(urgency)
  startWatches({ ...view, resources }, { Generator: { add }, Host: { add }, View: { add } })
  const entry = (observedGeneration: number): Change<Host>['after'] => {
    const value = changedTo(plain, { generation: 2 }, { status: { observedGeneration } })
    return { key: `${apps}/mainnet`, uid: 'one', resourceVersion: '1', value }
  }
  const level = entry(2)
  for (const change of [
    { before: null, after: level, listed: true },
    { before: null, after: level, listed: false },
    { before: null, after: entry(1), listed: true },
    { before: level, after: null, listed: true },
  ])
    for (const listener of listeners) listener({ key: `${apps}/mainnet`, ...change })
  assert.deepEqual(added, ['resync', 'user', 'user', 'user'])
})

test('a resource is reconciled when another operator takes it, and not when one begins', () => {
  const { put } = watched(plain)
  const managedBy = (name: string) => changedTo(plain, {}, { status: { managedBy: name } })
  assert.deepEqual(put(managedBy('a/operator')), [])
  assert.deepEqual(put(managedBy('a/operator')), [])
  assert.deepEqual(put(managedBy('b/operator')), [`${mainnet} user`])
})

const hostSelector = { matchLabels: { tier: 'public' } }
const registryID = `0x${'1'.repeat(64)}`
const senders = viewWith('senders', { registryID, hostSelector }, apps)
const open = changedTo(plain, { name: 'open', uid: 'open', labels: { tier: 'public' } })

test('Hosts are reconciled when a View that selects them, or did, changes, not for its figures', () => {
  const { put, remove } = watched(plain, open)
  const [own, selected] = [`View ${apps}/senders user`, `Host ${apps}/open owned`]
  assert.deepEqual(put(senders), [selected, own])
  assert.deepEqual(put(changedTo(senders, {}, { status: { rows: 7 } })), [])
  const known = changedTo(senders, {}, { status: { viewID: registryID } })
  assert.deepEqual(put(known), [selected])
  const spec = { ...senders.spec, hostSelector: { matchLabels: { name: 'none' } } }
  assert.deepEqual(put(changedTo(known, { generation: 2 }, { spec })), [selected, own])
  assert.deepEqual(put(changedTo(known, { generation: 3 }, { spec })), [own])
  const everywhere = { ...senders.spec, hostSelector: {} }
  const all = [`${mainnet} owned`, selected, own]
  assert.deepEqual(put(changedTo(known, { generation: 4 }, { spec: everywhere })), all)
  assert.deepEqual(remove(senders), all)
})

test('Hosts are reconciled when a View that selects them is paused, registered or deleted', () => {
  const { put } = watched(plain, open, senders)
  const all = [`Host ${apps}/open owned`, `View ${apps}/senders user`]
  const paused = { spec: { ...senders.spec, paused: true } }
  const registered = { spec: { ...paused.spec, registration } }
  const another = { spec: { ...registered.spec, registryID: `0x${'2'.repeat(64)}` } }
  for (const [index, more] of [paused, registered, another].entries())
    assert.deepEqual(put(changedTo(senders, { generation: index + 2 }, more)), all)
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  assert.deepEqual(put(changedTo(senders, { generation: 4, deletionTimestamp }, another)), all)
})

test('Views are reconciled when a Host that they select, or did, changes, not for its status', () => {
  const { put, remove } = watched(senders)
  const [own, selecting] = [`Host ${apps}/open user`, `View ${apps}/senders owned`]
  assert.deepEqual(put(plain), [`${mainnet} user`])
  assert.deepEqual(put(open), [own, selecting])
  assert.deepEqual(put(changedTo(open, {}, { status: { pods: '1/1' } })), [])
  assert.deepEqual(put(changedTo(open, { labels: {} })), [own, selecting])
  assert.deepEqual(put(changedTo(open, { labels: {}, generation: 2 })), [own])
  assert.deepEqual(put(open), [own, selecting])
  assert.deepEqual(remove(open), [own, selecting])
})

test('what is kept for a View concerns its Hosts, and what is made for a Host that one alone', () => {
  const namesake = viewWith('mainnet', { registryID, hostSelector }, apps)
  const { put, remove } = watched(plain, open, senders, namesake)
  const made = viewConfigMap(senders, { name: 'a.view', bytes: '' })
  const kept = { ...made, metadata: { ...made.metadata, uid: 'kept' } }
  const own = `View ${apps}/senders owned`
  for (const change of [put, remove])
    assert.deepEqual(change(kept as never), [`Host ${apps}/open owned`, own])
  const config = hostObjects(plain, hostContext).objects.find(({ kind }) => kind === 'ConfigMap')
  assert.deepEqual(put({ ...config }), [`${mainnet} owned`])
  assert.equal(put({ ...config, metadata: { ...config?.metadata, labels: {} } }).length, 0)
  const { 'app.kubernetes.io/instance': _, ...labels } = config?.metadata?.labels ?? {}
  assert.deepEqual(put({ ...config, metadata: { ...config?.metadata, name: 'odd', labels } }), [])
  remove(senders)
  assert.deepEqual(put({ ...kept, metadata: { ...kept.metadata, uid: 'again' } }), [own])
})

test('what cannot be read anywhere has all resources reconciled', () => {
  const view = viewOf([plain, senders].map((object) => object as KubernetesObject))
  let turn = (): void => undefined
  const [first] = view.reflectors
  assert.ok(first)
  const onTurn = (listener: () => void) => {
    turn = listener
    return () => undefined
  }
  const added: string[] = []
  const add = (key: string): void => void added.push(key)
  startWatches(
    { ...view, reflectors: [{ ...first, onTurn }] },
    { Generator: { add }, Host: { add }, View: { add } },
  )
  added.length = 0
  turn()
  assert.deepEqual(added.toSorted(), [`${apps}/mainnet`, `${apps}/senders`])
})

test('a Host is reconciled when a Generator that it names comes or goes, and no other Host', () => {
  const spec = { ...plain.spec, generators: [{ name: 'source' }] }
  const { put, remove } = watched(changedTo(plain, {}, { spec }), open)
  const base = readGenerator('generator-minimal')
  const source = changedTo(base, { name: 'source', namespace: apps, uid: 'source' })
  const both = [`Generator ${apps}/source user`, `${mainnet} owned`]
  assert.deepEqual(put(source), both)
  assert.deepEqual(remove(source), both)
})

test('a Host is reconciled when its Generator becomes Ready or not, and not for each block', () => {
  const host = readHost('host-full')
  const [reference] = host.spec.generators ?? []
  const base = readGenerator('generator-minimal')
  const { name = '', namespace = host.metadata.namespace } = reference ?? {}
  const key = `${namespace}/${name}`
  const metadata = { ...base.metadata, namespace, name }
  const generatorAt = (ready: 'True' | 'False', head: number): Generator => ({
    ...base,
    metadata,
    status: { head, conditions: [readyCondition(ready)] },
  })
  let notify: (change: Change<Generator>) => void = () => undefined
  const other = { ...host, metadata: { ...host.metadata, name: 'other' } }
  const elsewhere = { ...other, spec: { ...host.spec, generators: [{ name, namespace: 'far' }] } }
  const view = viewOf([host, elsewhere].map((each) => each as KubernetesObject))
  const Generator: typeof view.resources.Generator = {
    ...view.resources.Generator,
    onChange: (listener) => {
      notify = listener
    },
  }
  const added: string[] = []
  const Host = { add: (of: string): void => void added.push(of) }
  startWatches(
    { ...view, resources: { ...view.resources, Generator } },
    { Generator: { add: () => undefined }, Host, View: { add: () => undefined } },
  )
  added.length = 0
  const change = (before: Generator, after: Generator): void => {
    const entry = (value: Generator) => ({ key, uid: 'one', resourceVersion: '1', value })
    notify({ key, before: entry(before), after: entry(after), listed: false })
  }
  change(generatorAt('True', 1), generatorAt('True', 2))
  assert.deepEqual(added, [])
  change(generatorAt('True', 2), generatorAt('False', 2))
  assert.deepEqual(added, [`${host.metadata.namespace}/${host.metadata.name}`])
})
