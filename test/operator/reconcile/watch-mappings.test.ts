import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition } from '../../../operator/api/status.ts'
import type { Generator } from '../../../operator/api.ts'
import { startWatches } from '../../../operator/reconcile/watch-mappings.ts'
import type { Change } from '../../../operator/runtime/cache/object-cache.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readGenerator, readHost } from '../../support/resources/operator-cases.ts'
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

test('what can no longer be read in a namespace is told to the resources in there', () => {
  const turns = new Map<string, () => void>()
  const elsewhere = { ...hostOf('far', 2), metadata: { namespace: 'others', name: 'far' } }
  const view = viewOf([hostOf('near', 2), elsewhere])
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
  let tell: (change: Change<Generator>) => void = () => undefined
  const other = { ...host, metadata: { ...host.metadata, name: 'other' } }
  const elsewhere = { ...other, spec: { ...host.spec, generators: [{ name, namespace: 'far' }] } }
  const view = viewOf([host, elsewhere].map((each) => each as KubernetesObject))
  const Generator: typeof view.resources.Generator = {
    ...view.resources.Generator,
    onChange: (listener) => {
      tell = listener
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
    tell({ key, before: entry(before), after: entry(after), listed: false })
  }
  change(generatorAt('True', 1), generatorAt('True', 2))
  assert.deepEqual(added, [])
  change(generatorAt('True', 2), generatorAt('False', 2))
  assert.deepEqual(added, [`${host.metadata.namespace}/${host.metadata.name}`])
})
