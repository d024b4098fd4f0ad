import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1StatefulSet } from '@kubernetes/client-node'
import {
  findSchemaKeys,
  type GeneratorKeys,
  type SchemaKeysParts,
} from '../../../../operator/reconcile/fetch/schema-keys.ts'
import { generatorObjects } from '../../../../operator/resources/generator-objects.ts'
import { secretValue } from '../../../../operator/resources/names/secret.ts'
import { readDiscovered } from '../../../../operator/resources/pod/discovered.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { generatorContext, readGenerator } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { emptyState } from '../../support/operator-findings.ts'

const generator = readGenerator('generator-minimal')
const path = `/api/v1/namespaces/${generator.metadata.namespace}/secrets/mainnet-generator-schema-keys`
const annotation = 'viewmesh.io/schema-keys-renewed'
const noon = new Date('2026-01-01T12:00:00Z')
const { signal } = new AbortController()

const room = kubernetesRoom()

/** What keys are found by at this time. */
function partsOf(hadPods: boolean, recorded = emptyState.recordedDiscovered): SchemaKeysParts {
  return { api: room.client.api, recorded, named: new Map(), hadPods, now: () => noon, signal }
}

/** Finds keys, and writes what is to be made. */
async function findAndWrite(
  hadPods: boolean,
  recorded = emptyState.recordedDiscovered,
): Promise<GeneratorKeys> {
  const found = await findSchemaKeys(generator, partsOf(hadPods, recorded))
  if (found.made !== null) await room.client.api.apply(builtinTypes.Secret, found.made)
  return found
}

test('the first key is made without restarting pods, and stays', async () => {
  const first = await findAndWrite(false)
  assert.match(first.keys, /^[A-Za-z0-9_-]{43}$/)
  assert.equal(first.renewed, null)
  const again = await findAndWrite(true)
  const handed = { key: first.keys, waits: null }
  assert.deepEqual(again, { keys: first.keys, made: null, renewed: null, handed })
})

test('a deleted Secret gets another key and another pod, whenever that is noticed', async () => {
  const first = await findAndWrite(false)
  room.server.remove(path)
  const second = await findAndWrite(true)
  assert.notEqual(second.keys, first.keys)
  assert.equal(second.renewed, noon.toISOString())
  assert.equal(room.server.get(path)?.metadata?.annotations?.[annotation], second.renewed)

  const later = await findAndWrite(true)
  const handed = { key: second.keys, waits: null }
  assert.deepEqual(later, { keys: second.keys, made: null, renewed: second.renewed, handed })
  const context = { ...generatorContext, schemaKeysRenewed: second.renewed }
  const { objects } = generatorObjects(generator, context)
  const set = objects.find(({ kind }) => kind === 'StatefulSet') as V1StatefulSet | undefined
  const annotations = set?.spec?.template.metadata?.annotations
  assert.equal(annotations?.[annotation], second.renewed)

  const recorded = readDiscovered(set?.metadata?.annotations)
  assert.equal(recorded.schemaKeysRenewed, second.renewed)
  const { annotations: _, ...metadata } = room.server.get(path)?.metadata ?? {}
  room.server.put(path, { ...room.server.get(path), metadata })
  assert.equal((await findAndWrite(true, recorded)).renewed, second.renewed)
})

test('while paused no key is generated, and the Secret is reported as one that would be', async () => {
  const paused = { ...generator, spec: { ...generator.spec, paused: true } }
  const { keys, made } = await findSchemaKeys(paused, partsOf(true))
  assert.equal(keys, '')
  assert.deepEqual(made?.data, { keys: '' })
  assert.equal(room.server.get(path), undefined)
})

test('keys that may not be read are made, other failures are thrown', async () => {
  const refused = async (code: number, reason: string): Promise<GeneratorKeys> => {
    room.server.faults.clear()
    room.server.faults.add(({ path: asked }, response) => {
      if (asked !== path) return false
      send(response, code, status(code, reason))
      return true
    })
    return await findSchemaKeys(generator, partsOf(false))
  }
  const { keys, made } = await refused(403, 'Forbidden')
  assert.equal(made && secretValue(made, 'keys'), keys)
  await assert.rejects(refused(422, 'Invalid'), { code: 'OPERATOR_API_INVALID' })
})
