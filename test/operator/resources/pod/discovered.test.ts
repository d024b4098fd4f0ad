import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Discovered,
  discoveredAnnotations,
  readDiscovered,
} from '../../../../operator/resources/pod/discovered.ts'

const nothing: Required<Discovered> = {
  executionNode: null,
  schemaSource: null,
  schemaKeysRenewed: null,
  hasSignersFile: null,
}

const everything: Required<Discovered> = {
  executionNode: {
    namespace: 'validators',
    labels: { app: 'geth' },
    service: 'validators/geth',
    isHostNetwork: true,
  },
  schemaSource: { namespace: 'apps', name: 'mainnet' },
  schemaKeysRenewed: '2026-01-01T00:00:00Z',
  hasSignersFile: false,
}

/** What is read of an annotation with this. */
const readOf = (value: unknown): Required<Discovered> =>
  readDiscovered({ 'viewmesh.io/learnt': JSON.stringify(value) })

test('what was discovered is read back, all of it or a part', () => {
  assert.deepEqual(readDiscovered(discoveredAnnotations(everything)), everything)
  for (const [name, value] of Object.entries(everything)) {
    const part = { ...nothing, [name]: value }
    assert.deepEqual(readDiscovered(discoveredAnnotations(part)), part)
  }
  const executionNode = { namespace: 'validators', labels: { app: 'geth' } }
  assert.deepEqual(readOf({ executionNode }), { ...nothing, executionNode })
})

test('where nothing was discovered there is no annotation', () => {
  assert.deepEqual(discoveredAnnotations(nothing), {})
  assert.deepEqual(discoveredAnnotations({}), {})
  assert.deepEqual(readDiscovered({}), nothing)
  assert.deepEqual(readDiscovered(undefined), nothing)
})

test('of an annotation that was edited, what has another form counts as not discovered', () => {
  const { executionNode, schemaSource } = everything
  for (const odd of [
    ...[null, 7, 'text', []],
    { executionNode: 'text', schemaSource: 'text', schemaKeysRenewed: 7, hasSignersFile: 'true' },
    { executionNode: { ...executionNode, namespace: 7 } },
    { executionNode: { ...executionNode, labels: {} } },
    { executionNode: { ...executionNode, labels: { app: 'geth', port: 7 } } },
    { schemaSource: { ...schemaSource, namespace: 7 } },
    { schemaSource: { ...schemaSource, name: null } },
  ])
    assert.deepEqual(readOf(odd), nothing, JSON.stringify(odd))
  assert.deepEqual(
    readOf({ executionNode: { ...executionNode, service: 7, isHostNetwork: 'true' } }),
    { ...nothing, executionNode: { namespace: 'validators', labels: { app: 'geth' } } },
  )
  assert.deepEqual(readDiscovered({ 'viewmesh.io/learnt': '{"executionNode"' }), nothing)
})
