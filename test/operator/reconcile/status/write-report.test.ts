/** What a reconcile ends with beside the status: whose replicas are asked at once, and when the next one is due. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requests } from '../../../../operator/api/annotations.ts'
import type { Resource } from '../../../../operator/api.ts'
import type { ReconcileParts } from '../../../../operator/reconcile/apply/reconcile-parts.ts'
import { nothingKnown } from '../../../../operator/reconcile/apply/resource-memory.ts'
import { writeReport } from '../../../../operator/reconcile/status/write-report.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { lensDefinition, lensMap, viewWith } from '../../../support/resources/view-cases.ts'
import { viewOf } from '../../support/operator-view.ts'
import { reconcileRoom } from '../../support/reconcile-room.ts'

const host = readHost('host-minimal')
const { namespace } = host.metadata
const view = viewWith('senders', { definition: lensDefinition }, namespace)
const room = reconcileRoom(namespace)

/** Whose replicas are asked at once when a person has this resource reconciled, and by the reconcile after that. */
async function askedFor({ kind, metadata: { name } }: Resource): Promise<readonly string[][]> {
  const asked = async (): Promise<string[]> => {
    await room.reconcile(room.read<Resource & KubernetesObject>(kind, name))
    return room.asked.splice(0)
  }
  await room.edit(kind, name, ({ metadata }) =>
    Object.assign(metadata ?? {}, { annotations: { [requests.reconcileAt]: 'now' } }),
  )
  return [await asked(), await asked()]
}

test('who has a Host reconciled has its replicas asked once, and with a View those of its Hosts', async () => {
  const other = { ...host, metadata: { ...host.metadata, name: 'another', uid: 'another' } }
  for (const resource of [host, other, lensMap(namespace), view]) await room.put(resource as never)
  for (const resource of [host, other, view]) await room.reconcile(resource)
  assert.deepEqual(room.asked, [])
  assert.deepEqual(await askedFor(host), [['Host apps/mainnet'], []])
  assert.deepEqual(await askedFor(view), [['Host apps/another', 'Host apps/mainnet'], []])
})

test('among a thousand resources one that waits is reconciled again soon, and then like others', async () => {
  const pauseMs = async (): Promise<number | undefined> =>
    (await room.reconcile(view)).requeueAfterMs
  room.crowd(1_000)
  await room.put(view)
  assert.equal(await pauseMs(), 5_000)
  await room.put(lensMap(namespace))
  assert.equal(await pauseMs(), 60_000, 'when it is to be warned of that no Host has it')
  room.pass(60_000)
  assert.equal(await pauseMs(), 400_000)
})

test('what was found of a resource is not said of another one that has its name by now', async () => {
  const another = { ...host, metadata: { ...host.metadata, uid: 'another' } }
  const { Host } = viewOf([another as KubernetesObject]).resources
  const write = (): never => assert.fail('the other one is left alone')
  const parts = { informer: Host, status: { write } } as unknown as ReconcileParts<typeof host>
  const status = { conditions: [], facts: {}, figures: {} }
  const report = { status, problem: null, error: null, isWaiting: false, asked: [] }
  const memory = { objects: nothingKnown(), pendingWarnings: new Map() }
  const { signal } = new AbortController()
  assert.equal(await writeReport(parts, host, memory, report, signal), null)
})

/** Of a Host whose keys are in a Secret that nobody has made. */
const waiting = {
  ...host.spec,
  identity: { ...host.spec.identity, secretRef: { name: 'missing' } },
}

for (const kind of ['Host', 'View'] as const)
  test(`a ${kind} that is deleted while it waits takes no turns from those that wait still`, async () => {
    const named = (name: string): Resource => {
      const resource = kind === 'View' ? view : { ...host, spec: waiting }
      return { ...resource, metadata: { ...resource.metadata, name, uid: name } } as Resource
    }
    const all = Array.from({ length: 14 }, (_, index) => named(`${kind.toLowerCase()}-${index}`))
    for (const resource of all) {
      await room.put(resource as KubernetesObject)
      await room.reconcile(resource)
    }
    const [first = assert.fail(), ...others] = all
    assert.equal((await room.reconcile(first)).requeueAfterMs, 5_600)
    for (const resource of others) {
      await room.remove(kind, resource.metadata.name)
      await room.reconcile(resource)
    }
    assert.equal((await room.reconcile(first)).requeueAfterMs, 5_000)
  })
