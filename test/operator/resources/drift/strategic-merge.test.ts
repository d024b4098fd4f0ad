import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mergeStrategically } from '../../../../operator/resources/drift/strategic-merge.ts'

test('objects are merged field by field', () => {
  assert.deepEqual(
    mergeStrategically(
      { securityContext: { fsGroup: 1001 }, hostNetwork: false },
      { securityContext: { sysctls: [] }, hostNetwork: true },
    ),
    { securityContext: { fsGroup: 1001, sysctls: [] }, hostNetwork: true },
  )
})

test('a field without a value leaves what is there', () => {
  assert.deepEqual(mergeStrategically({ a: 1 }, { a: undefined, b: undefined }), { a: 1 })
})

test('containers, volumes and variables are merged by name; what is new comes last', () => {
  const ours = {
    containers: [{ name: 'host', image: 'ours', env: [{ name: 'CHAIN_NAME', value: 'Ethereum' }] }],
    volumes: [{ name: 'tmp', emptyDir: {} }],
  }
  const theirs = {
    containers: [
      { name: 'proxy', image: 'theirs' },
      { name: 'host', env: [{ name: 'LOG_LEVEL', value: 'debug' }] },
    ],
    volumes: [{ name: 'scratch', emptyDir: {} }],
  }
  assert.deepEqual(mergeStrategically(ours, theirs), {
    containers: [
      {
        name: 'host',
        image: 'ours',
        env: [
          { name: 'CHAIN_NAME', value: 'Ethereum' },
          { name: 'LOG_LEVEL', value: 'debug' },
        ],
      },
      { name: 'proxy', image: 'theirs' },
    ],
    volumes: [
      { name: 'tmp', emptyDir: {} },
      { name: 'scratch', emptyDir: {} },
    ],
  })
})

test('ports are distinguished by protocol too, spread constraints by what they do', () => {
  const ours = { ports: [{ name: 'api', containerPort: 9181 }] }
  const theirs = {
    ports: [
      { containerPort: 9181, protocol: 'TCP', hostPort: 9181 },
      { containerPort: 9181, protocol: 'UDP' },
    ],
  }
  assert.deepEqual(mergeStrategically(ours, theirs), {
    ports: [
      { name: 'api', containerPort: 9181, protocol: 'TCP', hostPort: 9181 },
      { containerPort: 9181, protocol: 'UDP' },
    ],
  })
  const soft = { topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }
  const hard = { topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }
  assert.deepEqual(
    mergeStrategically(
      { topologySpreadConstraints: [soft] },
      { topologySpreadConstraints: [hard, { ...soft, maxSkew: 2 }] },
    ),
    { topologySpreadConstraints: [{ ...soft, maxSkew: 2 }, hard] },
  )
})

test('items of one list are never merged with each other', () => {
  const twice = {
    containers: [
      {
        name: 'dns',
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
        ],
      },
    ],
  }
  assert.deepEqual(mergeStrategically({ containers: [] }, twice), twice)
  assert.deepEqual(
    mergeStrategically({ env: [{ name: 'A', value: '0' }] }, twice.containers[0] ?? {}),
    {
      name: 'dns',
      env: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
    },
  )
})

test('an item that is no object stays as it is, for the API server to refuse', () => {
  const ours = { env: [{ name: 'A', value: '0' }] }
  for (const item of ['A', null, ['A']])
    assert.deepEqual(mergeStrategically(ours, { env: [item] }), { env: [...ours.env, item] })
})

test('lists without names are replaced as a whole', () => {
  const ours = { tolerations: [{ key: 'a' }], command: ['one', 'two'] }
  const theirs = { tolerations: [{ key: 'b' }], command: ['three'] }
  assert.deepEqual(mergeStrategically(ours, theirs), theirs)
})

test('null takes a field away', () => {
  assert.deepEqual(mergeStrategically({ a: 1, b: { c: 2, d: 3 } }, { a: null, b: { c: null } }), {
    b: { d: 3 },
  })
})

test('merging with nothing, with itself, or twice changes nothing, and neither side is touched', () => {
  const plainRecord = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
    fc.record<T>(model, { noNullPrototype: true })
  const name = fc.constantFrom('a', 'b', 'c')
  const container = plainRecord({ name, image: fc.string(), args: fc.array(fc.string()) })
  const containers = fc.uniqueArray(container, { selector: (item) => item.name })
  const template = plainRecord({ hostNetwork: fc.boolean(), containers })
  fc.assert(
    fc.property(template, template, (ours, theirs) => {
      const before = structuredClone({ ours, theirs })
      const merged = mergeStrategically(ours, theirs)
      assert.deepEqual(mergeStrategically(ours, {}), ours)
      assert.deepEqual(mergeStrategically(ours, ours), ours)
      assert.deepEqual(mergeStrategically(merged, theirs), merged)
      assert.deepEqual({ ours, theirs }, before)
    }),
  )
})
