import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { labels } from '../../../../operator/api/annotations.ts'
import { reportCommand } from '../../../../operator/plugin/report/report-command.ts'
import { createReportFolder } from '../../../../operator/plugin/report/report-folder.ts'
import { createOutput } from '../../../../operator/plugin/text/output.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readGenerator } from '../../../support/resources/operator-cases.ts'
import { plainDefinition, viewWith } from '../../../support/resources/view-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { runPlugin } from '../../support/plugin-run.ts'

const room = kubernetesRoom()
const top = mkdtempSync(join(tmpdir(), 'viewmesh-report-'))
after(() => rmSync(top, { recursive: true }))
let folders = 0
const newFolder = (): string => {
  folders += 1
  return join(top, String(folders))
}

/** In no file of a report, wherever it stands in the cluster. */
const secret = 'kZ5vJ8xQ2mW7pL4nR9tY'
const base64 = Buffer.from(secret).toString('base64')
const marks = { [labels.name]: 'generator', [labels.instance]: 'mainnet' }
const operatorMarks = {
  [labels.name]: 'operator',
  [labels.instance]: 'viewmesh',
  [labels.partOf]: 'viewmesh',
}

function put(path: string, object: object): void {
  room.server.put(path, object as KubernetesObject)
}

/** A Generator with everything, an operator, and the secret in every place that people put one. */
function fillCluster(): void {
  const generator = readGenerator('generator-minimal')
  const namespace = generator.metadata.namespace
  const env = [{ name: 'EXTRA_KEY', value: secret }]
  const containers = [{ name: 'generator', env }]
  const upstream = {
    url: { http: [`https://me:${secret}@node.example.org/v3/${secret}?key=${secret}`] },
  }
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': `{"key":"${secret}"}` }
  put(`/apis/viewmesh.io/v1alpha1/namespaces/${namespace}/generators/mainnet`, {
    ...generator,
    metadata: { ...generator.metadata, annotations },
    spec: { ...generator.spec, upstream, podTemplate: { spec: { containers } } },
    status: { observedGeneration: 1, pods: '1/1' },
  })
  put(`/apis/apps/v1/namespaces/${namespace}/statefulsets/mainnet-generator`, {
    metadata: {
      labels: marks,
      annotations: { 'viewmesh.io/pod-template': JSON.stringify({ env }) },
    },
    spec: { template: { spec: { containers } } },
  })
  const containerStatuses = [{ name: 'generator', restartCount: 1 }]
  put(`/api/v1/namespaces/${namespace}/pods/mainnet-generator-0`, {
    metadata: { labels: marks },
    spec: { containers },
    status: { containerStatuses },
  })
  put(`/api/v1/namespaces/${namespace}/secrets/mainnet-generator-keyring`, {
    metadata: { labels: marks, annotations },
    data: { 0: base64 },
  })
  put('/apis/apps/v1/namespaces/viewmesh/deployments/viewmesh-operator', {
    metadata: { labels: operatorMarks },
    spec: { template: { spec: { containers: [{ name: 'operator', image: 'operator:9', env }] } } },
  })
  put('/api/v1/namespaces/viewmesh/pods/viewmesh-operator-abc', {
    metadata: { labels: operatorMarks },
    status: { containerStatuses: [{ name: 'operator', restartCount: 0 }] },
  })
  for (const name of ['viewmesh-operator', 'of-another'])
    put(`/apis/coordination.k8s.io/v1/namespaces/viewmesh/leases/${name}`, {})
  const event = (name: string, about: string, note: string, more: object = {}): void =>
    put(`/apis/events.k8s.io/v1/namespaces/${namespace}/events/${name}`, {
      ...{ note, regarding: { name: about } },
      ...more,
    })
  event('a', 'mainnet', `cannot reach https://node.example.org/${secret}`, {
    eventTime: '2026-01-02T00:00:00.000000Z',
  })
  event('b', 'data-mainnet-generator-3', 'a claim that is gone', {
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
  })
  event('c', 'mainnet-frontend', 'of something else')
  event('d', 'keys-mainnet-generator-4', 'another claim that is gone', {
    metadata: { creationTimestamp: '2026-01-03T00:00:00Z' },
  })
  room.server.faults.add(({ path, query }, response) => {
    if (!path.endsWith('/log')) return false
    const before = query['previous'] === 'true' ? 'before' : 'now'
    response.end(`${before} at https://node.example.org/${secret}\n{"token":"${secret}"}\x1b[2J\n`)
    return true
  })
}

/** Of the Generator, as one that never ended. */
function podOf(): object {
  const containerStatuses = [{ name: 'generator', restartCount: 0 }]
  return { metadata: { labels: marks }, spec: {}, status: { containerStatuses } }
}

function readAll(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => statSync(join(folder, name)).isFile())
  return new Map(files.toSorted().map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

test('a report has the resource, its objects, Events, logs, the operator, and no secret at all', async () => {
  fillCluster()
  const folder = newFolder()
  const args = ['report', '-n', 'validators', '-f', folder]
  const { code, stdout, stderr } = await runPlugin(room.client, args)
  assert.equal(code, 0, stderr)
  assert.equal(stdout, `${folder}\n`)
  const files = readAll(folder)
  assert.deepEqual(
    [...files.keys()],
    [
      'events.yaml',
      'report.txt',
      'validators/generators.yaml',
      'validators/logs/mainnet-generator-0.generator.log',
      'validators/logs/mainnet-generator-0.generator.previous.log',
      'validators/pods.yaml',
      'validators/statefulsets.yaml',
      'viewmesh/deployments.yaml',
      'viewmesh/leases.yaml',
      'viewmesh/logs/viewmesh-operator-abc.operator.log',
      'viewmesh/pods.yaml',
    ],
  )
  for (const [name, text] of files) {
    assert.ok(!text.includes(secret) && !text.includes(base64), name)
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
  }
  assert.ok(room.server.requests.every(({ path }) => !path.includes('/secrets')))
})

test('a report that nobody names is named by when it was made', async (t) => {
  const before = process.cwd()
  process.chdir(top)
  t.after(() => process.chdir(before))
  const { stdout } = await runPlugin(room.client, ['report'])
  const [folder = ''] = stdout.split('\n')
  const text = readAll(folder).get('report.txt') ?? ''
  const [, madeAt = ''] = /^made at: (.*)\.\d{3}Z$/m.exec(text) ?? []
  assert.equal(folder, `viewmesh-report-${madeAt.replaceAll(':', '')}`)
})

test('what is in a report can be read: YAML with kinds, lines of logs, versions', async () => {
  fillCluster()
  const folder = newFolder()
  await runPlugin(room.client, ['report', '-n', 'validators', '-f', folder])
  const files = readAll(folder)
  const [generator] = parseAllDocuments(files.get('validators/generators.yaml') ?? '')
  const { kind, status: found, spec } = generator?.toJS() ?? {}
  assert.deepEqual([kind, found.pods], ['Generator', '1/1'])
  assert.deepEqual(spec.upstream.url.http, ['https://node.example.org/(hidden)'])
  assert.equal(
    files.get('validators/logs/mainnet-generator-0.generator.previous.log'),
    'before at https://node.example.org/(hidden)\n{"token":"(hidden)"}\\u001b[2J\n',
  )
  const events = parseAllDocuments(files.get('events.yaml') ?? '').map(
    (one) => one.toJS().regarding.name,
  )
  assert.deepEqual(events, ['data-mainnet-generator-3', 'mainnet', 'keys-mainnet-generator-4'])
  const leases = parseAllDocuments(files.get('viewmesh/leases.yaml') ?? '')
  assert.deepEqual(
    leases.map((one) => one.toJS().metadata.name),
    ['viewmesh-operator'],
  )
  assert.match(
    files.get('report.txt') ?? '',
    /^made at: .*\nkubectl-viewmesh: \S+\nKubernetes: v1\.34\.0\n$/,
  )
})

test('what may not be read is named, and the rest is there', async () => {
  fillCluster()
  room.server.faults.add(({ path }, response) => {
    if (!path.includes('deployments')) return false
    send(response, 403, status(403, 'Forbidden', 'cannot list resource "deployments"'))
    return true
  })
  const folder = newFolder()
  const { code, stderr } = await runPlugin(room.client, [
    'report',
    '-n',
    'validators',
    '-f',
    folder,
  ])
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^not in it: list deployments: 403 cannot list resource "deployments"\nnot in it: an operator: none was found in any namespace\n/,
  )
  const files = readAll(folder)
  assert.match(files.get('report.txt') ?? '', /not in it: list deployments: 403/)
  assert.ok(files.has('validators/generators.yaml'))
})

test('a report is of all namespaces where that is asked for, and of the operator that is named', async () => {
  fillCluster()
  const folder = newFolder()
  const args = ['report', '-A', '--operator-namespace', 'apps', '-f', folder]
  const { code, stderr } = await runPlugin(room.client, args)
  assert.equal(code, 1)
  assert.match(stderr, /^not in it: an operator: none was found in namespace apps\n/)
  const files = [...readAll(folder).keys()]
  assert.ok(files.includes('validators/generators.yaml'))
  assert.ok(!files.includes('viewmesh/deployments.yaml'))
})

test('where the version of the cluster is not known, a report says why', async () => {
  const serverVersion = () => Promise.reject(new Error('401 Unauthorized'))
  const access = { api: room.client.api, namespace: 'apps', serverVersion }
  const filename = newFolder()
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() }
  await reportCommand(access, { filename }, createOutput(streams))
  const text = readAll(filename).get('report.txt') ?? ''
  assert.match(text, /^Kubernetes: not known \(Error: 401 Unauthorized\)$/m)
})

test('a report has the logs of 100 pods, and says how many are left out', async () => {
  fillCluster()
  const pods = '/api/v1/namespaces/validators/pods'
  for (let ordinal = 1; ordinal < 99; ordinal++)
    put(`${pods}/mainnet-generator-${ordinal}`, podOf())
  const all = await runPlugin(room.client, ['report', '-n', 'validators', '-f', newFolder()])
  assert.equal(all.code, 0, all.stderr)
  for (const ordinal of [99, 100]) put(`${pods}/mainnet-generator-${ordinal}`, podOf())
  const folder = newFolder()
  const { code, stderr } = await runPlugin(room.client, [
    ...['report', '-n', 'validators', '-f', folder],
  ])
  assert.equal(code, 1)
  assert.match(stderr, /^not in it: logs of 2 pods are left out$/m)
  const logs = [...readAll(folder).keys()].filter((name) =>
    /\.(?:generator|operator)\.log$/.test(name),
  )
  assert.equal(logs.length, 100)
})

test('a report has Views, and of the ConfigMap that keeps one the number of its bytes', async () => {
  const view = viewWith('payments', { definition: plainDefinition }, 'apps')
  put('/apis/viewmesh.io/v1alpha1/namespaces/apps/views/payments', view)
  put('/api/v1/namespaces/apps/configmaps/payments-view', {
    metadata: {
      namespace: 'apps',
      labels: { [labels.name]: 'view', [labels.instance]: 'payments' },
    },
    binaryData: { '0x1.view': Buffer.alloc(99).toString('base64') },
  })
  const folder = newFolder()
  await runPlugin(room.client, ['report', '-f', folder])
  const read = (name: string): string => readFileSync(join(folder, 'apps', name), 'utf8')
  assert.match(read('views.yaml'), /query: Log \{ address \}/)
  assert.match(read('configmaps.yaml'), /0x1\.view: \(99 bytes\)/)
})

test('a folder that exists is not written to', async () => {
  const { code, stderr } = await runPlugin(room.client, ['report', '-f', top])
  assert.equal(code, 2)
  assert.match(stderr, /the report is not written to .*EEXIST.*\(PLUGIN_FILE_UNUSABLE\)/)
})

test('names of a cluster lead nowhere but into the folder', async () => {
  const folder = newFolder()
  const report = await createReportFolder(folder)
  await report.lines(['..', '../../x', '.ssh'], ['text'])
  await report.lines(['', 'x'.repeat(201)], ['text'])
  await report.objects(['a/b', '...yaml'], [{ a: '\u202e' }])
  assert.deepEqual(readdirSync(folder).toSorted(), ['_', 'a_b'])
  assert.ok(readdirSync(join(folder, '_')).includes('x'.repeat(200)))
  assert.deepEqual(readAll(folder).get('a_b/_yaml')?.includes('\u202e'), false)
})
