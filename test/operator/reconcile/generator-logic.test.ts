import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator } from '../../../operator/api.ts'
import { generatorLogic } from '../../../operator/reconcile/generator-logic.ts'
import type { Statement } from '../../../operator/reconcile/statements/problem.ts'
import { generatorContext, readGenerator } from '../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../support/kubernetes-room.ts'
import { emptyState } from '../support/operator-findings.ts'

const room = kubernetesRoom()

async function holdOf(generator: Generator): Promise<Statement | null> {
  const { facts } = await generatorLogic.fetch(generator, {
    api: room.client.api,
    options: generatorContext,
    recorded: emptyState.recordedDiscovered,
    named: new Map(),
    hadPods: false,
    addresses: [],
    now: () => new Date(0),
    signal: new AbortController().signal,
  })
  return generatorLogic.hold(generator, facts)
}

test('pods wait for the Service of the execution node, and the message names it', async () => {
  const generator = readGenerator('generator-minimal')
  assert.deepEqual(await holdOf(generator), {
    reason: 'WaitingForUpstream',
    message:
      'Service validators/geth of the execution node does not exist: create it, or correct spec.upstream.',
  })
  room.server.put('/api/v1/namespaces/validators/services/geth', { spec: {} } as never)
  assert.equal(await holdOf(generator), null)
})

test('pods do not wait for those of a podSelector, nor for a URL', async () => {
  assert.equal(await holdOf(readGenerator('generator-pods')), null)
  assert.equal(await holdOf(readGenerator('generator-url')), null)
})
