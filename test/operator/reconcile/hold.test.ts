/** What pods have to wait for: until it is there everything but the StatefulSet is written. */
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import type { V1Pod } from '@kubernetes/client-node'
import type { Generator, Host } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readSecretFile } from '../../../src/service/settings/secret-file.ts'
import { readGenerator, readHost } from '../../support/resources/operator-cases.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const minimal = readGenerator('generator-minimal')
const { namespace } = minimal.metadata
const upstream: Generator['spec']['upstream'] = {
  service: { name: 'geth', httpPort: 8545, colocate: 'None' },
  auth: { header: 'X-Api-Key', secretRef: { name: 'node-token', key: 'token' } },
}
const generator: Generator = { ...minimal, spec: { ...minimal.spec, upstream } }
const room = reconcileRoom(namespace)

/** Reconciles once all may be fetched again; the reason of Ready, and whether the StatefulSet was written. */
async function reconciled(): Promise<[reason: string | undefined, hasSet: boolean]> {
  room.pass(600_000)
  await room.reconcile(generator)
  const hasSet = room.writes().includes('PATCH statefulsets mainnet-generator')
  return [room.condition(generator, 'Ready')?.reason, hasSet]
}

test('a Generator waits for the Secret that it names, then for its execution node', async () => {
  await room.put(generator)
  assert.deepEqual(await reconciled(), ['SecretMissing', false])
  assert.doesNotMatch(room.events.join('\n'), /^SecretGone /m, 'Ready says it')
  const secret = { kind: 'Secret', metadata: { namespace, name: 'node-token' } }
  await room.put({ ...secret, ...{ data: { token: 'YQ==' } } } as KubernetesObject)
  assert.deepEqual(await reconciled(), ['WaitingForUpstream', false])
  const service = { kind: 'Service', metadata: { namespace, name: 'geth' } }
  await room.put({ ...service, ...{ spec: { selector: { app: 'geth' } } } } as KubernetesObject)
  assert.deepEqual(await reconciled(), ['WaitingForStorage', true])
})

test('what is lost later stops only what would need new pods', async () => {
  const waiting: Generator = {
    ...minimal,
    spec: {
      ...minimal.spec,
      upstream: { service: { name: 'geth', httpPort: 8545, colocate: 'None' } },
    },
  }
  const service = { kind: 'Service', metadata: { namespace, name: 'geth' } }
  room.server.put(`/api/v1/namespaces/${namespace}/services/geth`, {
    ...{ ...service, spec: { selector: { app: 'geth' } } },
  } as KubernetesObject)
  await room.put(waiting)
  await room.reconcile(waiting)
  await room.start(waiting)
  room.writes()
  assert.deepEqual(await reconciled(), ['AllReady', false])
  room.server.remove(`/api/v1/namespaces/${namespace}/services/geth`)
  assert.deepEqual(await reconciled(), ['AllReady', false])

  await room.edit<V1Pod & KubernetesObject>('Pod', 'mainnet-generator-0', (pod) => {
    const message = readSecretFile('DB_KEYRING_SECRET_FILE', tmpdir()).problem ?? ''
    const err = { code: 'CONFIG_INVALID', message }
    const terminated = { exitCode: 1, message: JSON.stringify({ level: 'fatal', err }) }
    Object.assign(pod.metadata ?? {}, { creationTimestamp: '2026-01-01T11:00:00Z' })
    const containerStatuses = [{ name: 'generator', ready: false, lastState: { terminated } }]
    Object.assign(pod, { status: { ...pod.status, containerStatuses } })
  })
  room.pass(600_000)
  await room.reconcile(waiting)
  assert.deepEqual(room.writes(), [], 'the pod would not be created again')

  await room.edit<Generator & KubernetesObject>('Generator', 'mainnet', ({ spec }) =>
    Object.assign(spec, { image: { ...spec.image, tag: 'another' } }),
  )
  assert.deepEqual(await reconciled(), ['WaitingForUpstream', false])
})

test('a Secret that goes while all pods are ready is reported in one Event', async () => {
  const secret = { kind: 'Secret', metadata: { namespace, name: 'node-token' } }
  const service = { kind: 'Service', metadata: { namespace, name: 'geth' } }
  await room.put({ ...secret, ...{ data: { token: 'YQ==' } } } as KubernetesObject)
  await room.put({ ...service, ...{ spec: { selector: { app: 'geth' } } } } as KubernetesObject)
  await room.put(generator)
  await room.reconcile(generator)
  await room.start(generator)
  const reported = (): string[] => room.events.filter((text) => text.startsWith('SecretGone '))
  assert.equal((await reconciled())[0], 'AllReady')
  assert.deepEqual(reported(), [])
  await room.remove('Secret', 'node-token')
  for (const generation of [1, 2]) {
    await room.edit('Generator', 'mainnet', ({ metadata }) =>
      Object.assign(metadata ?? {}, { generation }),
    )
    assert.equal((await reconciled())[0], 'AllReady')
    const [note = '', ...others] = reported()
    assert.match(
      note,
      /No new pod can start.* Secret node-token of spec\.upstream\.auth\.secretRef/,
    )
    assert.deepEqual(others, [])
  }
})

test('a Generator that is suspended waits for nothing, so that its pod goes', async () => {
  const suspended = { ...generator, spec: { ...generator.spec, suspend: true } }
  await room.put(suspended)
  assert.deepEqual(await reconciled(), ['Suspended', true])
})

test('a Host waits for the Secret of its own keys, and has no pod without one', async () => {
  const minimalHost = readHost('host-minimal')
  const { metadata, spec } = minimalHost
  const identity = { ...spec.identity, secretRef: { name: 'own' } }
  const own = { metadata: { ...metadata, namespace }, spec: { ...spec, identity } }
  const host: Host = { ...minimalHost, ...own }
  const sets = async (): Promise<string[]> => {
    room.pass(600_000)
    await room.reconcile(host)
    return room.writes().filter((write) => write.includes('statefulsets'))
  }
  await room.put(host)
  assert.deepEqual(await sets(), [])
  const secret = { kind: 'Secret', metadata: { namespace, name: 'own' } }
  const data = { 0: Buffer.from('a'.repeat(43)).toString('base64') }
  await room.put({ ...secret, ...{ data } } as KubernetesObject)
  assert.deepEqual(await sets(), ['PATCH statefulsets mainnet-host'])
})
