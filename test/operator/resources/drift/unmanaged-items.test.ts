import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  hasUnmanagedItems,
  recordedUnmanagedItems,
  removalsOf,
  unmanagedAnnotations,
  unmanagedItemsOf,
} from '../../../../operator/resources/drift/unmanaged-items.ts'

const template = (containers: readonly object[]): object => ({
  spec: { template: { spec: { containers } } },
})
const host = { name: 'host', env: [{ name: 'A' }, { name: 'B' }] }
const wanted = template([host])

/** What is taken out once ours is back beside what was made of it. */
const removed = (live: object, after: object): unknown[] =>
  removalsOf(after, unmanagedItemsOf(wanted, live))
    .filter(({ op }) => op === 'remove')
    .map(({ path }) => path)

test('a container that was given another name goes when ours is back', () => {
  const live = template([{ ...host, name: 'hostx' }])
  const after = template([{ ...host, name: 'hostx' }, host])
  assert.deepEqual(removed(live, after), ['/spec/template/spec/containers/0'])
})

test('so does a variable within a container', () => {
  const live = template([{ name: 'host', env: [{ name: 'Ax' }, { name: 'B' }] }])
  const after = template([{ name: 'host', env: [{ name: 'Ax' }, { name: 'B' }, { name: 'A' }] }])
  assert.deepEqual(removed(live, after), ['/spec/template/spec/containers/0/env/0'])
})

test('what others added beside ours is left alone', () => {
  const live = template([host, { name: 'sidecar' }])
  assert.deepEqual(removalsOf(live, unmanagedItemsOf(wanted, live)), [])
})

test('it is taken out whatever its status has become meanwhile, and only where it still is', () => {
  const live = template([{ ...host, name: 'hostx' }])
  assert.deepEqual(removalsOf(live, unmanagedItemsOf(wanted, live)), [
    { op: 'test', path: '/spec/template/spec/containers/0/name', value: 'hostx' },
    { op: 'remove', path: '/spec/template/spec/containers/0' },
  ])
  assert.deepEqual(removalsOf(template([host]), unmanagedItemsOf(wanted, live)), [])
})

test('of many items the last goes first, so that the places of the others stay what they are', () => {
  const strangers = Array.from({ length: 11 }, (_, index) => ({ name: `host${index}` }))
  const paths = removed(template(strangers), template([...strangers, host]))
  assert.deepEqual(
    paths,
    strangers.map((_, index) => `/spec/template/spec/containers/${10 - index}`),
  )
})

test('the object records unmanaged items until they are gone, whichever operator removes them', () => {
  const live = template([{ name: 'hostx', env: [] }, { name: 'hosty' }])
  const annotations = unmanagedAnnotations(unmanagedItemsOf(wanted, live))
  const after = {
    ...template([{ name: 'hostx' }, { name: 'hosty' }, host]),
    metadata: { annotations },
  }
  assert.equal(hasUnmanagedItems(after), true)
  const left = recordedUnmanagedItems(after)
  assert.deepEqual(
    removalsOf(after, [...left, ...left]).filter(({ op }) => op === 'remove'),
    [
      { op: 'remove', path: '/spec/template/spec/containers/1' },
      { op: 'remove', path: '/spec/template/spec/containers/0' },
      { op: 'remove', path: '/metadata/annotations/viewmesh.io~1strangers' },
    ],
  )
})

test('an object without unmanaged items has no record of any', () => {
  const annotations = unmanagedAnnotations([])
  assert.deepEqual(annotations, {})
  assert.equal(hasUnmanagedItems({ metadata: { annotations } }), false)
})

test('items below an item of a list are compared with those of the very item', () => {
  const withVariable = (first: string, second: string): object =>
    template([
      { name: 'host', env: [{ name: first }] },
      { name: 'beside', env: [{ name: second }] },
    ])
  const list = ['spec', 'template', 'spec', 'containers', { key: 'name', value: 'beside' }, 'env']
  assert.deepEqual(unmanagedItemsOf(withVariable('A', 'B'), withVariable('A', 'Bx')), [
    { list, item: { key: 'name', value: 'Bx' } },
  ])
})

test('a field that is wanted to be null has no items', () => {
  assert.deepEqual(unmanagedItemsOf({ spec: null, data: {} }, { spec: { a: [1] } }), [])
})

test('an edited record of unmanaged items removes nothing but the record', () => {
  const list = ['spec', 'template', 'spec', 'containers']
  const edits = [
    { list: 7, item: { key: 'name' } },
    { list: [...list, null], item: { key: 'name' } },
    { list, item: null },
    { list: ['spec'], item: { key: 'name', value: 'host' } },
  ]
  for (const text of ['', 'no JSON', '{"a":1}', ...edits.map((one) => JSON.stringify([one]))]) {
    const live = {
      ...template([host]),
      metadata: { annotations: { 'viewmesh.io/strangers': text } },
    }
    assert.deepEqual(removalsOf(live, recordedUnmanagedItems(live)), [
      { op: 'remove', path: '/metadata/annotations/viewmesh.io~1strangers' },
    ])
  }
})
