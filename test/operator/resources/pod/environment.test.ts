import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  generatorEnvironment,
  hostEnvironment,
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

test('a Host without a Generator has no source of a schema', () => {
  const found = hostEnvironment(readHost('host-minimal'), hostContext)
  assert.deepEqual(
    found.filter(({ name }) => name.startsWith('GENERATOR_SCHEMA')),
    [],
  )
})
