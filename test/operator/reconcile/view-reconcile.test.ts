import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1ConfigMap, V1StatefulSet } from '@kubernetes/client-node'
import { records } from '../../../operator/api/annotations.ts'
import type { Host, ViewResource } from '../../../operator/api.ts'
import { type HealthView, parseHealth } from '../../../operator/reconcile/observe/health-view.ts'
import type { ViewAtReplica } from '../../../operator/reconcile/observe/view-at-replica.ts'
import {
  readTemplateRecord,
  recordAnnotations,
} from '../../../operator/resources/pod/template-record.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { parseViewFile, toViewFile } from '../../../src/views/view-file.ts'
import { noSender } from '../../../src/views/view-id.ts'
import { decodeView, encodeView } from '../../../src/views/wire.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import {
  lensDefinition,
  lensMap,
  moduleBytes,
  plainDefinition,
  viewWith,
} from '../../support/resources/view-cases.ts'
import { send, status } from '../support/kubernetes-server.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const { namespace } = host.metadata
const room = reconcileRoom(namespace)
const view = viewWith('senders', { definition: lensDefinition }, namespace)
const wire = encodeView({
  query: lensDefinition.query,
  sdl: lensDefinition.sdl,
  lenses: [{ wasm: moduleBytes, args: '{"a":"1","b":"2"}' }],
})
const file = toViewFile({ sender: noSender, wire })
const id = file.name.slice(0, 66)

const keysOf = (name: string): string[] =>
  Object.keys(room.read<V1ConfigMap & KubernetesObject>('ConfigMap', name).binaryData ?? {})
const said = (type: string): string => {
  const { status: value, reason } = room.condition(view, type) ?? {}
  return `${value} ${reason}`
}

/** What the replica of the Host says of the View. */
function saying(hosted: Partial<ViewAtReplica> | null): ReadonlyMap<number, HealthView> {
  const health = parseHealth('{"program": "host", "p2p": {"self": {"id": "me"}}}')
  assert.ok(health)
  const live = { id, state: 'live', name: 'Sender', type: 'Sender', rows: 5, lastBlock: 9 } as const
  const views = hosted === null ? [] : [{ ...live, message: null, ...hosted }]
  return new Map([[0, { ...health, views }]])
}

async function startHost(): Promise<void> {
  await room.put(host)
  await room.reconcile(host)
  await room.start(host)
  const pod = room.read<KubernetesObject & { status: object }>('Pod', 'mainnet-host-0')
  await room.put({ ...pod, status: { ...pod.status, podIP: '10.0.0.1' } } as KubernetesObject)
  await room.reconcile(host)
}

/** The View with its lens, at a Host whose replica serves it. */
async function served(): Promise<void> {
  await startHost()
  await room.put(lensMap(namespace))
  await room.put(view)
  await room.reconcile(view)
  await room.reconcile(host)
  room.answer(saying({}))
  await room.reconcile(view)
  room.writes()
}

test('a View comes to the Host as the file that others would post, and no pod is replaced', async () => {
  await startHost()
  await room.put(lensMap(namespace))
  await room.put(view)
  room.writes()
  await room.reconcile(view)
  assert.deepEqual(room.writes(), ['PATCH configmaps senders-view'])
  assert.equal(said('Validated'), 'True Valid')
  await room.reconcile(host)
  assert.deepEqual(
    room.writes().filter((write) => !write.startsWith('PATCH pods')),
    ['PATCH configmaps mainnet-host-views-0'],
  )
  const { binaryData = {} } = room.read<V1ConfigMap & KubernetesObject>(
    'ConfigMap',
    'mainnet-host-views-0',
  )
  assert.deepEqual(Object.keys(binaryData), [file.name])
  const found = parseViewFile(Buffer.from(binaryData[file.name] ?? '', 'base64'))
  assert.deepEqual(decodeView(found.wire), decodeView(wire))
})

const arrivals: Readonly<Record<string, () => Promise<void>>> = {
  Host: startHost,
  View: async () => await room.put(view),
  lens: async () => await room.put(lensMap(namespace)),
}
for (const order of ['Host View lens', 'Host lens View', 'View Host lens']) {
  for (const names of [order.split(' '), order.split(' ').toReversed()]) {
    test(`a View is served whose things come in the order ${names.join(', ')}`, async () => {
      for (const name of names) {
        await arrivals[name]?.()
        await room.reconcile(view)
        await room.reconcile(host)
      }
      await room.reconcile(host)
      room.answer(saying({}))
      await room.reconcile(view)
      assert.equal(said('Ready'), 'True ViewServed')
      assert.deepEqual(keysOf('mainnet-host-views-0'), [file.name])
    })
  }
}

test('the status says how the View stands at each Host, and Ready once all replicas serve it', async () => {
  await served()
  assert.equal(said('Ready'), 'True ViewServed')
  const {
    conditions: _,
    managedBy: __,
    ...found
  } = room.read<ViewResource & KubernetesObject>('View', 'senders').status ?? {}
  const { address, ...rest } = found
  assert.match(address ?? '', /^0x[0-9A-Fa-f]{40}$/)
  assert.deepEqual(rest, {
    observedGeneration: 1,
    viewID: id,
    type: 'Sender',
    state: 'live',
    served: '1/1',
    rows: 5,
    lastBlock: 9,
    hosts: [{ name: 'mainnet', state: 'live', served: '1/1', rows: 5, lastBlock: 9 }],
  })
})

test('a View that fails on a replica is named with its reason', async () => {
  await served()
  room.answer(saying({ state: 'failed', message: 'LENS_TIMEOUT: it took 5 s' }))
  await room.reconcile(view)
  assert.equal(said('Served'), 'False Failing')
  assert.match(
    room.condition(view, 'Served')?.message ?? '',
    /^0 of 1 replicas of 1 Host serve it\. Host mainnet: It has failed on replica 0: LENS_TIMEOUT: it took 5 s\./,
  )
})

test('a deleted View goes from the ConfigMap of its Host, and with it its rows', async () => {
  await served()
  await room.remove('View', 'senders')
  await room.reconcile(host)
  const applied = room.server.requests.findLast(({ path }) => path.endsWith('-views-0'))
  assert.equal(applied?.method, 'PATCH')
  assert.ok(!('binaryData' in Object(applied?.body)), 'an API server would not keep an empty one')
})

test('a missing ConfigMap of a lens is named with the command that makes it, and waited for', async () => {
  await room.put(view)
  await room.reconcile(view)
  assert.equal(said('Validated'), 'False LensMissing')
  assert.match(
    room.condition(view, 'Validated')?.message ?? '',
    new RegExp(`kubectl create configmap lenses -n ${namespace} --from-file=pass.wasm=FILE.wasm$`),
  )
  assert.deepEqual(room.writes(), [])
  await room.put(lensMap(namespace, Buffer.from('another')))
  await room.reconcile(view)
  assert.equal(said('Validated'), 'False LensMismatch')
  await room.put(lensMap(namespace))
  await room.reconcile(view)
  assert.equal(said('Validated'), 'True Valid')
})

test('a View whose lens is gone, and an operator that remembers nothing, leave it as it is', async () => {
  await served()
  await room.remove('ConfigMap', 'lenses')
  room.restart()
  await room.reconcile(view)
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
  assert.equal(said('Validated'), 'True Valid')
})

test('what others did to the ConfigMap of a View is undone, and its Host keeps the View', async () => {
  await served()
  await room.remove('ConfigMap', 'senders-view')
  await room.reconcile(host)
  assert.deepEqual(keysOf('mainnet-host-views-0'), [file.name])
  await room.reconcile(view)
  await room.edit<V1ConfigMap & KubernetesObject>('ConfigMap', 'senders-view', (map) =>
    Object.assign(map, { binaryData: { [file.name]: Buffer.from('other').toString('base64') } }),
  )
  await room.reconcile(view)
  await room.reconcile(host)
  assert.deepEqual(keysOf('senders-view'), [file.name])
  const [bytes] = Object.values(
    room.read<V1ConfigMap & KubernetesObject>('ConfigMap', 'mainnet-host-views-0').binaryData ?? {},
  )
  assert.equal(bytes, Buffer.from(file.bytes).toString('base64'))
  assert.deepEqual(
    room.events.filter((text) => text.startsWith('DriftCorrected')),
    [
      'DriftCorrected ConfigMap senders-view had been deleted.',
      'DriftCorrected ConfigMap senders-view had been changed.',
    ],
  )
})

test('a paused View is written nowhere, and says that its ConfigMap waits', async () => {
  const paused = { ...view, spec: { ...view.spec, paused: true } }
  await room.put(lensMap(namespace))
  await room.put(paused)
  await room.reconcile(paused)
  assert.throws(() => room.read('ConfigMap', 'senders-view'))
  assert.equal(said('Paused'), 'True ChangesWaiting')
  assert.match(room.condition(view, 'Paused')?.message ?? '', /ConfigMap senders-view created/)
})

test('a Host with the View goes on while the View is paused', async () => {
  await served()
  await room.edit<ViewResource & KubernetesObject>('View', 'senders', (live) =>
    Object.assign(live, { spec: { ...live.spec, paused: true } }),
  )
  await room.reconcile(host)
  await room.reconcile(view)
  assert.deepEqual(room.writes(), [])
  assert.deepEqual(keysOf('mainnet-host-views-0'), [file.name])
  assert.equal(said('Paused'), 'True NothingWaiting')
})

test('a View whose ConfigMap and lens are both gone is still counted at its Host', async () => {
  await served()
  for (const name of ['lenses', 'senders-view']) await room.remove('ConfigMap', name)
  await room.reconcile(view)
  await room.reconcile(host)
  assert.equal(said('Validated'), 'False LensMissing')
  const { served: count, rows } =
    room.read<ViewResource & KubernetesObject>('View', 'senders').status ?? {}
  assert.deepEqual([count, rows], ['1/1', 5])
  assert.deepEqual(keysOf('mainnet-host-views-0'), [file.name])
})

test('pods of an earlier operator are left as they are, and the View says how they change', async () => {
  await startHost()
  await room.edit<V1StatefulSet & KubernetesObject>('StatefulSet', 'mainnet-host', (set) => {
    const record = readTemplateRecord(set.metadata?.annotations)
    const template = set.spec?.template
    const [container] = template?.spec?.containers ?? []
    assert.ok(record && template?.spec && container)
    container.env = (container.env ?? []).filter(({ name }) => name !== 'HOST_VIEWS_DIR')
    Object.assign(set.metadata?.annotations ?? {}, recordAnnotations({ ...record, template }))
    delete set.metadata?.annotations?.[records.applied]
  })
  await room.put(lensMap(namespace))
  await room.put(view)
  await room.reconcile(view)
  await room.reconcile(host)
  await room.reconcile(view)
  assert.equal(said('Served'), 'False HostNeedsUpdate')
  assert.match(
    room.condition(view, 'Served')?.message ?? '',
    new RegExp(
      `kubectl annotate host mainnet -n ${namespace} --overwrite viewmesh.io/roll-at=views$`,
    ),
  )
  const [container] =
    room.read<V1StatefulSet & KubernetesObject>('StatefulSet', 'mainnet-host').spec?.template.spec
      ?.containers ?? []
  assert.equal(
    container?.env?.some(({ name }) => name === 'HOST_VIEWS_DIR'),
    false,
  )
  assert.equal(room.condition(host, 'UpdateAvailable')?.reason, 'NewTemplate')
})

test('labels say which Hosts a View selects', async () => {
  await startHost()
  const elsewhere = viewWith(
    'elsewhere',
    { definition: plainDefinition, hostSelector: { matchLabels: { tier: 'public' } } },
    namespace,
  )
  await room.put(elsewhere)
  await room.reconcile(elsewhere)
  assert.equal(room.condition(elsewhere, 'Served')?.reason, 'NoHosts')
  await room.reconcile(host)
  assert.equal(room.writes().includes('PATCH configmaps mainnet-host-views-0'), false)
  await room.edit<Host & KubernetesObject>('Host', 'mainnet', (live) =>
    Object.assign(live.metadata, { labels: { tier: 'public' } }),
  )
  await room.reconcile(host)
  assert.equal(room.writes().includes('PATCH configmaps mainnet-host-views-0'), true)
})

test('a View that names another chain is on no Host of this one', async () => {
  await startHost()
  const definition = { ...plainDefinition, query: 'Arbitrum__One__Log { address }' }
  const foreign = viewWith('foreign', { definition }, namespace)
  await room.put(foreign)
  await room.reconcile(foreign)
  await room.reconcile(host)
  assert.equal(room.condition(foreign, 'Served')?.reason, 'OtherChain')
  assert.equal(room.writes().includes('PATCH configmaps mainnet-host-views-0'), false)
})

test('a View of the registry chain is written nowhere, and found by its short ID', async () => {
  await startHost()
  const registryID = `0x${'1'.repeat(40)}`
  const registered = viewWith('registered', { registryID }, namespace)
  await room.put(registered)
  room.writes()
  room.answer(saying({ id: registryID }))
  await room.reconcile(registered)
  assert.equal(room.condition(registered, 'Ready')?.reason, 'ViewServed')
  assert.deepEqual(room.writes(), [])
})

test('a View whose ConfigMap may not be written is stalled until it may, with one warning', async () => {
  await room.put(lensMap(namespace))
  await room.put(view)
  room.server.faults.add(({ method, path }, response) => {
    if (method !== 'PATCH' || !path.endsWith('/configmaps/senders-view')) return false
    send(response, 403, status(403, 'Forbidden', 'configmaps "senders-view" is forbidden'))
    return true
  })
  room.crowd(1_000)
  for (let times = 0; times < 3; times += 1) {
    assert.deepEqual(await room.reconcile(view), { requeueAfterMs: 5_000, isTerminal: true })
  }
  assert.equal(said('Stalled'), 'True Forbidden')
  assert.deepEqual(room.log.messages('warn'), ['stopped until a person acts'])
  room.server.faults.clear()
  await room.reconcile(view)
  assert.equal(room.condition(view, 'Stalled'), undefined)
  assert.equal(said('Validated'), 'True Valid')
})

test('a View whose ConfigMap the API server fails to write is tried again as all that failed', async () => {
  await room.put(lensMap(namespace))
  await room.put(view)
  room.server.faults.add(({ method, path }, response) => {
    if (method !== 'PATCH' || !path.endsWith('/configmaps/senders-view')) return false
    send(response, 500, status(500, 'InternalError'))
    return true
  })
  await assert.rejects(room.reconcile(view), { code: 'OPERATOR_API_FAILED' })
  assert.equal(said('Ready'), 'False Pending')
})

test('a View whose namespace goes away is tried again after a second', async () => {
  await room.put(lensMap(namespace))
  await room.put(view)
  room.server.faults.add(({ method, path }, response) => {
    if (method !== 'PATCH' || !path.endsWith('/configmaps/senders-view')) return false
    const message = `namespace ${namespace} is forbidden because it is being terminated`
    send(response, 403, status(403, 'Forbidden', message))
    return true
  })
  assert.deepEqual(await room.reconcile(view), { requeueAfterMs: 1_000, isTerminal: false })
})

test('of two operators the one whose name sorts first goes on with a View', async () => {
  await room.put(lensMap(namespace))
  await room.put(view)
  const [first, second] = [room.operator('a/operator'), room.operator('b/operator')]
  await first(view)
  await second(view)
  await first(view)
  await second(view)
  assert.equal(
    room.read<ViewResource & KubernetesObject>('View', 'senders').status?.managedBy,
    'a/operator',
  )
  const { reason, message } = room.condition(view, 'Contested') ?? {}
  assert.equal(reason, 'OperatorsOverlap')
  assert.match(message ?? '', /^Operator b\/operator manages it as well; a\/operator goes on\. /)
})
