import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Host, Workload } from '../../../../operator/api.ts'
import { selectorText } from '../../../../operator/resources/names/metadata.ts'
import {
  childNames,
  claimName,
  isViewPart,
  namesGenerators,
  networkOf,
  p2pServiceName,
  specOrdinals,
  updatePartition,
  viewPartName,
  wantedOrdinals,
} from '../../../../operator/resources/names/names.ts'
import { readGenerator, readHost } from '../../../support/resources/operator-cases.ts'

const generator = readGenerator('generator-minimal')
const host = readHost('host-minimal')

function renamed<T extends Workload>(resource: T, name: string): T {
  return { ...resource, metadata: { ...resource.metadata, name } }
}

test('names are those that the charts use too', () => {
  assert.deepEqual(childNames(generator), {
    base: 'mainnet-generator',
    nodes: 'mainnet-generator-nodes',
    upstream: 'mainnet-generator-upstream',
    config: 'mainnet-generator-config',
    keyring: 'mainnet-generator-keyring',
    schemaKeys: 'mainnet-generator-schema-keys',
    connection: 'mainnet-generator-connection',
  })
  assert.equal(p2pServiceName(host, 1), 'mainnet-host-p2p-1')
  assert.equal(claimName(host, 'keys', 1), 'keys-mainnet-host-1')
})

test('a Generator and a Host may share a name', () => {
  const names = [...Object.values(childNames(generator)), ...Object.values(childNames(host))]
  assert.equal(new Set(names).size, names.length)
})

test('a keyring Secret of one’s own keeps its name', () => {
  assert.equal(childNames(readGenerator('generator-full')).keyring, 'my-keyring')
})

test('any name of up to 40 characters gives names that Kubernetes accepts', () => {
  const revisionSuffix = '-1234567890'
  const nameOf40 = fc.stringMatching(/^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/)
  fc.assert(
    fc.property(nameOf40, fc.constantFrom<Workload>(generator, host), (name, resource) => {
      const named = renamed(resource, name)
      const names = [
        ...Object.values(childNames(named)),
        p2pServiceName(named, 15),
        `${childNames(named).base}${revisionSuffix}`,
      ]
      for (const found of names) assert.match(found, /^[a-z]([-a-z0-9]{0,61}[a-z0-9])$/)
    }),
  )
})

test('the scale subresource finds the pods by the selector of the StatefulSet', () => {
  assert.equal(selectorText(host), 'app.kubernetes.io/name=host,app.kubernetes.io/instance=mainnet')
})

test('ConfigMaps with the Views of a Host are known by their names, and a Generator has none', () => {
  assert.equal(viewPartName(host, 2), 'mainnet-host-views-2')
  assert.ok(isViewPart(host, 'mainnet-host-views-2'))
  for (const other of ['mainnet-host-config', 'other-host-views-0', 'x-mainnet-host-views-0'])
    assert.ok(!isViewPart(host, other), other)
  assert.ok(!isViewPart(generator, 'mainnet-generator-views-0'))
})

test('a suspended resource keeps its replicas in the spec, and wants none', () => {
  const { updatePartition: _, ...spec } = host.spec
  const of3: Host = { ...host, spec: { ...spec, replicas: 3, suspend: false } }
  assert.deepEqual(
    [specOrdinals(of3), wantedOrdinals(of3)],
    [
      [0, 1, 2],
      [0, 1, 2],
    ],
  )
  const suspended: Host = { ...of3, spec: { ...of3.spec, suspend: true } }
  assert.deepEqual([specOrdinals(suspended), wantedOrdinals(suspended)], [[0, 1, 2], []])
  assert.deepEqual(specOrdinals(generator), [0])
  assert.equal(updatePartition(of3), 0)
  assert.equal(updatePartition({ ...of3, spec: { ...of3.spec, updatePartition: 2 } }), 2)
  assert.equal(updatePartition(generator), 0)
})

test('a Host names Generators where there is one at least', () => {
  const withGenerators = (generators: Host['spec']['generators']): boolean =>
    namesGenerators({ ...host, spec: { ...host.spec, ...(generators && { generators }) } })
  assert.deepEqual([withGenerators([]), withGenerators([{ name: 'mainnet' }])], [false, true])
  assert.equal(networkOf(host), 'Ethereum__Mainnet')
})
