/** The operator as a whole, with a stand-in for the API server: who works, on what, and what it answers to probes. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { V1Lease, V1StatefulSet } from '@kubernetes/client-node'
import { openOperator } from '../../operator/operator.ts'
import type { KubernetesObject } from '../../operator/runtime/client/kubernetes-object.ts'
import { operatorSettings } from '../../operator/settings.ts'
import type { ServiceError } from '../../src/errors.ts'
import type { Closeable } from '../../src/service/run.ts'
import { loadSettings } from '../../src/service/settings/settings.ts'
import { captureLog, type LogLine } from '../support/captured-log.ts'
import { readHost } from '../support/resources/operator-cases.ts'
import { kubeconfigText } from './support/kubeconfig-text.ts'
import { kubernetesRoom } from './support/kubernetes-room.ts'
import { type SeenRequest, send, status } from './support/kubernetes-server.ts'

const top = mkdtempSync(join(tmpdir(), 'viewmesh-operator-'))
after(() => rmSync(top, { recursive: true }))

const group = '/apis/viewmesh.io/v1alpha1'
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/shop/leases/viewmesh-operator'
const hostPath = `${group}/namespaces/apps/hosts/mainnet`
const setPath = '/apis/apps/v1/namespaces/apps/statefulsets/mainnet-host'
/** It renews its Lease once and then for a long time no more. */
const rarely = {
  LEASE_DURATION_MS: '3600000',
  RENEW_DEADLINE_MS: '1800000',
  RETRY_PERIOD_MS: '900000',
}

/** An operator that opens. */
interface Opened {
  /** Resolves when its controllers work. */
  readonly working: Promise<void>
  /** What it ends for by itself. */
  readonly failed: Promise<ServiceError>
  /** Asks for this path on the port of health or of metrics. */
  ask(port: 'health' | 'metrics', path: string): Promise<string>
  /** The first line of the log with this message. */
  said(message: string): Promise<LogLine>
  /** Begins to stop. */
  stop(): void
  close(): Promise<void>
}

let opened: Opened[] = []
afterEach(async () => {
  for (const each of opened) await each.close()
  opened = []
})
const room = kubernetesRoom()

function open(env: Readonly<Record<string, string>> = {}): Opened {
  const kubeconfig = join(top, 'config')
  writeFileSync(kubeconfig, kubeconfigText(room.server.url))
  const settings = loadSettings(operatorSettings, {
    argv: [],
    env: {
      KUBECONFIG: kubeconfig,
      ...{ GENERATOR_IMAGE: 'generator:9', HOST_IMAGE: 'host:9' },
      ...{ HEALTH_ADDR: '127.0.0.1:0', METRICS_ADDR: '127.0.0.1:0' },
      ...env,
    },
  })
  const { log, line } = captureLog()
  const failed = Promise.withResolvers<ServiceError>()
  const stopping = new AbortController()
  const owned: Closeable[] = []
  const running = {
    signal: stopping.signal,
    own<T extends Closeable>(_name: string, part: T): T {
      owned.push(part)
      return part
    },
    fail: (error: unknown) => failed.resolve(error as ServiceError),
    useLog: () => undefined,
  }
  const service = { host: null, port: null }
  const working = openOperator(settings, { log, running, service, guards: [] })
  const operator: Opened = {
    working,
    failed: failed.promise,
    said: line,
    async ask(port, path) {
      const served = await line('health and metrics are served')
      const answer = await fetch(`http://127.0.0.1:${served[port]}${path}`)
      return `${answer.status} ${await answer.text()}`
    },
    stop: () => stopping.abort(),
    async close() {
      stopping.abort()
      await working.catch(() => undefined)
      for (let part = owned.pop(); part !== undefined; part = owned.pop()) await part.close()
    },
  }
  opened.push(operator)
  return operator
}

const putHost = (): void => void room.server.put(hostPath, readHost('host-minimal'))
const putLease = (holderIdentity: string): void =>
  void room.server.put(leasePath, {
    spec: { holderIdentity, leaseDurationSeconds: 3_600 },
  } as KubernetesObject)
const isSet = ({ method, path }: SeenRequest): boolean => method === 'PATCH' && path === setPath
const isStatus = ({ query }: SeenRequest): boolean =>
  query['fieldManager'] === 'viewmesh-operator-status'
const isLease = ({ path }: SeenRequest): boolean => path.includes('/leases')
const holder = (): string | undefined =>
  (room.server.get(leasePath) as (KubernetesObject & V1Lease) | undefined)?.spec?.holderIdentity

test('the leader makes what a Host asks for, as its settings say, and owns what it wrote', async () => {
  putHost()
  const { working, close } = open()
  await working
  assert.match(holder() ?? '', /^.+_\d+_[0-9a-f]{8}$/)
  const set = await room.server.seen(isSet)
  assert.equal(set.query['fieldManager'], 'viewmesh-operator')
  assert.match(String(set.headers['user-agent']), /^viewmesh-operator\//)
  assert.match(JSON.stringify(set.body), /"image":"host:9"/)
  await room.server.seen(isStatus)
  assert.match(JSON.stringify(room.server.get(hostPath)), /"managedBy":"shop\/viewmesh-operator"/)
  await close()
  assert.equal(holder(), '')
})

test('what happened again since its Event was written is counted before it ends', async () => {
  putHost()
  const { working, close } = open()
  await working
  await room.server.seen(isSet)
  const sets = (): readonly SeenRequest[] => room.server.requests.filter(isSet)
  for (const _ of [1, 2]) {
    const before = sets().length
    const set = room.server.get(setPath) as V1StatefulSet & KubernetesObject
    room.server.put(setPath, { ...set, ...{ spec: { ...set.spec, replicas: 7 } } })
    while (sets().length === before) await setImmediate()
  }
  await close()
  const [count] = room.server.requests.filter(
    ({ method, path }) => method === 'PATCH' && path.includes('/events/'),
  )
  assert.partialDeepStrictEqual(count?.body, { series: { count: 2 } })
})

test('what is put while it works is made as well', async () => {
  await open().working
  putHost()
  await room.server.seen(isSet)
})

test('a stand-by reads everything and writes nothing, until the Lease is free', async () => {
  putHost()
  putLease('another')
  const { working, ask } = open({ RETRY_PERIOD_MS: '100' })
  for (const before = room.server.requests.length; ; )
    if (room.server.requests.slice(before).filter(isLease).length >= 2) break
    else await setImmediate()
  while ((await ask('health', '/readyz')) !== '200 [+]stopping ok\n[+]watches ok\n');
  assert.deepEqual(
    room.server.requests.filter(({ method }) => method !== 'GET'),
    [],
  )
  putLease('')
  await working
  await room.server.seen(isSet)
})

test('a stand-by that is to end does so without having worked', async () => {
  putLease('another')
  const { working, stop } = open()
  await room.server.seen(isLease)
  stop()
  await assert.rejects(working, { name: 'AbortError' })
})

test('an operator without an election needs no Lease to write', async () => {
  putHost()
  await open({ LEADER_ELECT: 'false' }).working
  await room.server.seen(isSet)
  assert.deepEqual(room.server.requests.filter(isLease), [])
})

test('where the Lease that settings name is taken, an operator ends and writes no more', async () => {
  const path = leasePath.replace('shop', 'elsewhere')
  const { working, failed, said } = open({ LEASE_NAMESPACE: 'elsewhere', RETRY_PERIOD_MS: '100' })
  await working
  room.server.put(path, {
    spec: { holderIdentity: 'thief', leaseDurationSeconds: 15 },
  } as KubernetesObject)
  assert.equal((await failed).code, 'OPERATOR_LEADERSHIP_LOST')
  putHost()
  const { err } = await said('reconcile failed')
  assert.equal(Object(err).code, 'OPERATOR_FENCED')
})

for (const [namespaces, wanted] of [
  ['', [`${group}/hosts`]],
  ['apps', [`${group}/namespaces/apps/hosts`]],
  ['apps,shop', [`${group}/namespaces/apps/hosts`, `${group}/namespaces/shop/hosts`]],
] as const) {
  test(`Hosts are followed in ${namespaces === '' ? 'all namespaces' : namespaces}`, async () => {
    const watched = namespaces === '' ? {} : { WATCH_NAMESPACES: namespaces }
    await open({ LEADER_ELECT: 'false', ...watched }).working
    const paths = room.server.requests
      .map(({ path }) => path)
      .filter((path) => path.endsWith('/hosts'))
    assert.deepEqual([...new Set(paths)].toSorted(), wanted)
  })
}

test('an operator that works is alive and ready, and one that is to end is not ready', async () => {
  const { working, ask, stop } = open()
  await working
  const alive = '200 [+]event-loop ok\n[+]leader-election ok\n[+]watches ok\n'
  assert.equal(await ask('health', '/healthz'), alive)
  assert.equal(await ask('health', '/readyz'), '200 [+]stopping ok\n[+]watches ok\n')
  stop()
  assert.equal(await ask('health', '/healthz'), alive)
  assert.equal(
    await ask('health', '/readyz'),
    '503 [-]stopping failed: it is about to end\n[+]watches ok\n',
  )
})

test('its metrics report its controllers, its Lease, and the resources that there are', async () => {
  putHost()
  const { working, ask } = open()
  await working
  const text = await ask('metrics', '/metrics')
  for (const line of [
    'controller_runtime_max_concurrent_reconciles{controller="host"} 4',
    'leader_election_master_status{name="viewmesh-operator"} 1',
    '# TYPE viewmesh_operator_resources gauge',
    '# TYPE viewmesh_operator_unread_kinds gauge',
  ])
    assert.ok(text.split('\n').includes(line), line)
})

test('an operator of which nothing is heard for too long is not alive', async (t) => {
  let nowMs = performance.now()
  t.mock.method(performance, 'now', () => nowMs)
  const { working, ask } = open(rarely)
  await working
  while (room.server.openWatches() === 0) await setImmediate()
  const startMs = nowMs
  const saidAfter = async (ms: number): Promise<readonly string[]> => {
    nowMs = startMs + ms
    const lines = (await ask('health', '/healthz')).split('\n')
    return lines.filter((line) => /leader-election|watches/.test(line))
  }
  const silent = '[-]watches failed: nothing happened for 600 s'
  assert.deepEqual(await saidAfter(600_000), ['[+]leader-election ok', '[+]watches ok'])
  assert.deepEqual(await saidAfter(600_001), ['[+]leader-election ok', silent])
  assert.equal((await saidAfter(3_600_000))[0], '[+]leader-election ok')
  assert.equal(
    (await saidAfter(3_600_001))[0],
    '[-]leader-election failed: nothing happened for 3600 s',
  )
})

test('an operator whose event loop is late by more than five seconds is not alive', async (t) => {
  let nowMs = performance.now()
  t.mock.method(performance, 'now', () => nowMs)
  const { working, ask } = open(rarely)
  await working
  let said = ''
  for (; !said.includes('[-]event-loop'); nowMs += 10_000) said = await ask('health', '/healthz')
  assert.match(said, /^503 \[-\]event-loop failed: it is blocked\n/)
})

test('an operator that closes ends what it works on before it gives the Lease back', async () => {
  putHost()
  const held = Promise.withResolvers<ServerResponse>()
  room.server.faults.add((request, response) => {
    if (isSet(request)) held.resolve(response)
    return isSet(request)
  })
  const { working, close } = open()
  await working
  const response = await held.promise
  const before = room.server.requests.length
  const closing = close()
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
  send(response, 500, status(500, 'InternalError', 'no'))
  await closing
  const writes = room.server.requests.slice(before).filter(({ method }) => method !== 'GET')
  const [statusAt, leaseAt] = [isStatus, isLease].map((is) => writes.findIndex(is))
  assert.ok(Number(statusAt) >= 0 && Number(statusAt) < Number(leaseAt), JSON.stringify(writes))
  assert.equal(holder(), '')
})
