import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { apiGroup, resourceKinds } from '../../operator/api/resource-kinds.ts'
import { repository } from '../support/repository.ts'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

/** Verbs by resource and group, of one of the files with rules. */
function verbsOf(file: string): Readonly<Record<string, string>> {
  const rules: readonly Rule[] = parse(
    readFileSync(`${repository}/charts/operator/files/${file}.yaml`, 'utf8'),
  )
  const entries = rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.map((resource) => [`${resource}.${group}`, verbs.join(' ')] as const),
    ),
  )
  return Object.fromEntries(entries)
}

/** What may be done to resources of every kind, or to a part of them. */
function onEach(part: string, verbs: string): Readonly<Record<string, string>> {
  const names = resourceKinds.map(({ plural }) => `${plural}${part}.${apiGroup}`)
  return Object.fromEntries(names.map((name) => [name, verbs]))
}

/** Server-side apply is patch, and create as well where the object is not there yet. */
const applied = 'get list watch create patch'

test('in a watched namespace the operator may do what it does, and nothing else', () => {
  const removed = `${applied} delete`
  assert.deepEqual(verbsOf('rules'), {
    ...onEach('', 'list watch'),
    ...onEach('/status', 'patch'),
    ...onEach('/finalizers', 'update'),
    'statefulsets.apps': removed,
    'services.': removed,
    'configmaps.': applied,
    'serviceaccounts.': applied,
    'jobs.batch': 'list watch create',
    'poddisruptionbudgets.policy': removed,
    'networkpolicies.networking.k8s.io': removed,
    'pods.': 'list watch patch delete',
    'persistentvolumeclaims.': 'get list watch patch',
    'secrets.': 'get create patch',
    'events.events.k8s.io': 'list create patch',
  })
})

test('in the cluster it only reads whether a class lets volumes grow', () => {
  assert.deepEqual(verbsOf('cluster-rules'), { 'storageclasses.storage.k8s.io': 'get' })
})

test('in its own namespace it only holds its Lease', () => {
  const rules: readonly Rule[] = parse(
    readFileSync(`${repository}/charts/operator/files/election-rules.yaml`, 'utf8'),
  )
  assert.deepEqual(
    rules.map(({ resources, verbs }) => [resources, verbs]),
    [
      [['leases'], ['create']],
      [['leases'], ['get', 'update']],
    ],
  )
})
