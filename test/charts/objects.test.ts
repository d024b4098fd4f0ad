import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { V1Container, V1StatefulSet } from '@kubernetes/client-node'
import { parse } from 'yaml'
import { generatorObjects } from '../../operator/resources/generator-objects.ts'
import { hostObjects } from '../../operator/resources/host-objects.ts'
import { type ChildObject, statefulSetOf } from '../../operator/resources/objects/child-object.ts'
import { toYaml } from '../generate/chart-objects.ts'
import { repository } from '../support/repository.ts'
import {
  generatorCases,
  hostCases,
  hostContext,
  readGenerator,
  readHost,
} from '../support/resources/operator-cases.ts'

/** The objects that a standalone chart begins with. */
function objectsOf(chart: string): readonly ChildObject[] {
  const text = readFileSync(`${repository}/charts/${chart}/files/objects.yaml`, 'utf8')
  return Object.values(parse(text))
}

/** What templates only take away from: kinds of objects, and entries of the program's container. */
function entriesOf(program: string, objects: readonly ChildObject[]): Set<string> {
  const { spec } = statefulSetOf(objects) as V1StatefulSet
  const containers: readonly V1Container[] = spec?.template.spec?.containers ?? []
  const {
    env = [],
    ports = [],
    volumeMounts = [],
  } = containers.find(({ name }) => name === program) ?? {}
  return new Set([
    ...objects.map(({ kind }) => `${kind}`),
    ...env.map(({ name }) => `env ${name}`),
    ...ports.map(({ name }) => `port ${name}`),
    ...volumeMounts.map(({ name }) => `volume ${name}`),
  ])
}

/** Cases of the operator's builders without what is the user's own, and what needs the operator. */
function built(name: string): readonly ChildObject[] {
  const context = generatorCases[name]
  if (context === undefined) {
    const { spec, ...host } = readHost(name)
    const { podTemplate: _, generators: __, ...alone } = spec
    return hostObjects({ ...host, spec: alone }, hostContext).objects
  }
  const { spec, ...generator } = readGenerator(name)
  const { podTemplate: _, ...alone } = spec
  return generatorObjects({ ...generator, spec: alone }, context).objects
}

test('what Helm reads of objects is what was written, also words that YAML once took for others', () => {
  const value = { word: 'yes', off: 'off', number: '0777', time: '1:30', port: 9171, text: '$(A)' }
  assert.deepEqual(parse(toYaml(value), { version: '1.1' }), value)
  for (const chart of ['generator', 'host']) {
    const text = readFileSync(`${repository}/charts/${chart}/files/objects.yaml`, 'utf8')
    assert.deepEqual(parse(text, { version: '1.1' }), parse(text))
  }
})

for (const name of [...Object.keys(generatorCases), ...Object.keys(hostCases)]) {
  test(`${name}: what the operator makes of it is in what the standalone chart begins with`, () => {
    const program = name.replace(/-.*/, '')
    const known = entriesOf(program, objectsOf(program))
    const missing = [...entriesOf(program, built(name))].filter((entry) => !known.has(entry))
    assert.deepEqual(missing, [])
  })
}
