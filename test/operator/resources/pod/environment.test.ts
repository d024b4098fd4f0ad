import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Container } from '@kubernetes/client-node'
import {
  generatorEnvironment,
  hostEnvironment,
  startHeightOf,
} from '../../../../operator/resources/pod/environment.ts'
import { generatorSettings } from '../../../../src/generator/config.ts'
import { hostSettings } from '../../../../src/host/config.ts'
import { fieldSchema, readSchema } from '../../../support/resources/crd-schema.ts'
import {
  generatorCases,
  generatorContext,
  hostCases,
  hostContext,
  readGenerator,
  readHost,
} from '../../../support/resources/operator-cases.ts'

interface AnySetting {
  readonly env: string
  readonly secret?: boolean
}

/** Every variable a program reads. */
function variablesOf(settings: Readonly<Record<string, AnySetting>>): Set<string> {
  const names = Object.values(settings).flatMap(({ env, secret }) =>
    secret ? [env, `${env}_FILE`] : [env],
  )
  return new Set(names)
}

const environments = [
  ...Object.entries(generatorCases).map(([name, context]) => ({
    known: variablesOf(generatorSettings),
    found: generatorEnvironment(readGenerator(name), context),
  })),
  ...Object.entries(hostCases).map(([name, context]) => ({
    known: variablesOf(hostSettings),
    found: hostEnvironment(readHost(name), context),
  })),
]

test('every variable that is set is one that the program reads', () => {
  for (const { known, found } of environments) {
    const unknown = found.filter(({ name }) => name !== 'POD_INDEX' && !known.has(name))
    assert.deepEqual(unknown, [])
  }
})

test('no secret is in the environment, only the names of files', () => {
  for (const { found } of environments) {
    assert.deepEqual(
      found.filter(({ name }) => /SECRET$|_KEYS?$|TOKEN$/.test(name)),
      [],
    )
  }
})

test('what is set, and what would contradict it, may not be set by podTemplate', () => {
  const set = environments.flatMap(({ found }) => found.map(({ name }) => name))
  const contradicting = [
    'DB_API_ADDR',
    'DB_KEYRING_SECRET',
    'DB_P2P_LISTEN_ADDR',
    'GENERATOR_SCHEMA_AUTH_TOKEN',
    'HEALTH_ADDR',
    'HOST_ADMIN_TOKEN',
    'NODE_API_KEY',
    'SCHEMA_API_KEYS',
    'SCHEMA_AUTH_MODE',
  ]
  const container = fieldSchema(readSchema('Host'), 'spec.podTemplate.spec.containers.[]')
  const rules = container['x-kubernetes-validations'] ?? []
  const listed = /e\.name in \[([^\]]*)\]/.exec(rules.map(({ rule }) => rule).join('\n'))?.[1]
  const names = listed?.split(', ').map((name) => name.slice(1, -1)) ?? []
  assert.deepEqual(names.toSorted(), [...new Set([...set, ...contradicting])].toSorted())
})

test('a start behind the head, at the head, at a height', () => {
  const generator = readGenerator('generator-minimal')
  const startOf = (start: { height?: number; behindHead?: number } | undefined): unknown => {
    const spec = start === undefined ? generator.spec : { ...generator.spec, start }
    const found = generatorEnvironment({ ...generator, spec }, generatorContext)
    return found.find(({ name }) => name === 'GENERATOR_START_HEIGHT')?.value
  }
  assert.deepEqual(
    [undefined, { behindHead: 100 }, { behindHead: 0 }, { height: 0 }].map(startOf),
    [undefined, '-100', 'latest', '0'],
  )
})

test('the start of a pod template is that of its program, and latest where it names none', () => {
  const container = (name: string, value: string): V1Container => ({
    name,
    env: [
      { name: 'CHAIN_ID', value: '1' },
      { name: 'GENERATOR_START_HEIGHT', value },
    ],
  })
  const [proxy, program] = [container('proxy', '7'), container('generator', '-100')]
  assert.equal(startHeightOf({ spec: { containers: [proxy, program] } }), '-100')
  for (const containers of [[proxy], [proxy, { name: 'generator' }]])
    assert.equal(startHeightOf({ spec: { containers } }), 'latest')
  assert.equal(startHeightOf({}), 'latest')
})

test('an execution node without a port for WebSockets has no address for them', () => {
  const generator = readGenerator('generator-minimal')
  const upstream = { service: { name: 'geth', httpPort: 8545, colocate: 'None' as const } }
  const spec = { ...generator.spec, upstream }
  const found = generatorEnvironment({ ...generator, spec }, generatorContext)
  assert.deepEqual(
    found.filter(({ name }) => /^NODE_.*URL$/.test(name)),
    [{ name: 'NODE_RPC_URL', value: 'http://geth.validators.svc.cluster.local:8545' }],
  )
})

test('a Host without a Generator has no source of a schema', () => {
  const found = hostEnvironment(readHost('host-minimal'), hostContext)
  assert.deepEqual(
    found.filter(({ name }) => name.startsWith('GENERATOR_SCHEMA')),
    [],
  )
})
