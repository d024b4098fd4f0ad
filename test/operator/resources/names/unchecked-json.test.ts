import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalJson, shortHash } from '../../../../operator/resources/names/canonical-json.ts'
import { hasSameKeys, keysOf } from '../../../../operator/resources/names/list-keys.ts'
import { opaqueSecret, secretValue } from '../../../../operator/resources/names/secret.ts'
import {
  apartFromText,
  fieldOf,
  fieldsOf,
  isPlainObject,
  parseFields,
} from '../../../../operator/resources/names/unchecked-json.ts'

test('of what others wrote there are only the fields that they wrote', () => {
  assert.equal(fieldOf({ a: 1 }, 'a'), 1)
  assert.equal(fieldOf(['x', 'y'], '1'), 'y')
  assert.equal(fieldOf({ a: 1 }, 'constructor'), undefined)
  for (const odd of [null, undefined, 'text', 7]) {
    assert.equal(fieldOf(odd, 'length'), undefined)
    assert.deepEqual(fieldsOf(odd), {})
    assert.equal(isPlainObject(odd), false)
  }
  assert.deepEqual([isPlainObject({}), isPlainObject([])], [true, false])
  assert.deepEqual(parseFields('{"a": {"b": 1}}'), { a: { b: 1 } })
  for (const text of ['', '{"a":', '"text"', 'null', '7']) assert.deepEqual(parseFields(text), {})
  const read = { a: [{ b: 'c' }] }
  assert.deepEqual(apartFromText(read), read)
  assert.notEqual(apartFromText(read).a, read.a)
})

test('equal values have equal texts, whatever the order of their fields', () => {
  const one = { b: [{ d: 1, c: 2 }, 'x'], a: null, left: undefined }
  assert.equal(canonicalJson(one), '{"a":null,"b":[{"c":2,"d":1},"x"]}')
  assert.notEqual(canonicalJson(['a', 'b']), canonicalJson(['b', 'a']))
  assert.equal(shortHash('abc'), 'ba7816bf8f01cfea414140de5dae2223')
})

test('a key of a Secret has its text, and an empty one has none', () => {
  const secret = opaqueSecret({ name: 's' }, { text: 'déjà vu', empty: '' })
  assert.deepEqual(secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's' },
    type: 'Opaque',
    data: { text: 'ZMOpasOgIHZ1', empty: '' },
  })
  const values = ['text', 'empty', 'missing'].map((key) => secretValue(secret, key))
  assert.deepEqual(values, ['déjà vu', undefined, undefined])
  assert.equal(secretValue({}, 'text'), undefined)
})

test('items of a list are identified by its keys, ports by their number and protocol', () => {
  const container = { containerPort: 53 }
  const service = { port: 53, targetPort: 9 }
  assert.deepEqual(keysOf('env', []), ['name'])
  assert.equal(keysOf('tolerations', []), undefined)
  assert.deepEqual(keysOf('ports', [container]), ['containerPort', 'protocol'])
  assert.deepEqual(keysOf('ports', [service]), ['port', 'protocol'])
  assert.equal(keysOf('ports', [container, service]), undefined)
  const keys = ['port', 'protocol']
  assert.ok(hasSameKeys(keys, service, { port: 53, protocol: 'TCP' }))
  assert.ok(!hasSameKeys(keys, service, { port: 53, protocol: 'UDP' }))
  assert.ok(!hasSameKeys(keys, service, { port: 54 }))
})
