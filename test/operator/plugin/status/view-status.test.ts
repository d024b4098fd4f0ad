import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ViewStatus } from '../../../../operator/api/view-status.ts'
import type { ViewResource } from '../../../../operator/api.ts'
import {
  viewOverviewLines,
  viewScreenLines,
  viewSummaryOf,
} from '../../../../operator/plugin/status/view-summary.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { plainDefinition, viewWith } from '../../../support/resources/view-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { runPlugin } from '../../support/plugin-run.ts'

const page = { width: 70, nowMs: Date.parse('2026-01-01T12:00:00Z') }
const id = `0x${'1'.repeat(64)}`
const address = `0x${'2'.repeat(40)}`
const dated = { lastTransitionTime: '2026-01-01T11:55:00Z' }
const message = 'It has failed on replica 0: LENS_TIMEOUT: it took 5 s.'
const failing: ViewStatus = {
  observedGeneration: 1,
  viewID: id,
  address,
  type: 'Payment',
  state: 'failed',
  served: '0/1',
  rows: 7,
  lastBlock: 90,
  conditions: [
    { ...dated, type: 'Ready', status: 'False', reason: 'NotServed', message },
    { ...dated, type: 'Validated', status: 'True', reason: 'Valid', message: 'It is valid.' },
  ],
  hosts: [{ name: 'mainnet', state: 'failed', served: '0/1', rows: 7, lastBlock: 90, message }],
}

function payments(found: ViewStatus, name = 'payments'): ViewResource {
  return { ...viewWith(name, { definition: plainDefinition }, 'apps'), status: found }
}

test('a View is shown on a screen with its IDs, its rows, and how it stands at each Host', () => {
  assert.deepEqual(viewScreenLines(viewSummaryOf(payments(failing)), page), [
    'View apps/payments is not ready',
    `  ID            ${id}`,
    `  registry ID   ${address}`,
    '  type          Payment',
    '  state         failed',
    '  replicas      0/1',
    '  rows          7',
    '  last block    90',
    '',
    'Conditions',
    ' ! Ready       False   NotServed   for 5m',
    `    ${message}`,
    '   Validated   True    Valid       for 5m',
    '    It is valid.',
    '',
    'Host mainnet: failed',
    '  replicas     0/1',
    '  rows         7',
    '  last block   90',
    `  ${message}`,
  ])
})

test('a View that no operator has seen is known by what its spec names', () => {
  const named = { ...viewWith('payments', { registryID: address }, 'apps'), status: {} }
  const summary = viewSummaryOf(named)
  assert.deepEqual([summary.id, summary.address, summary.hosts], [null, address, []])
  const [, row = ''] = viewOverviewLines([summary])
  assert.deepEqual(row.split(/ +/), [
    ...['apps', 'view/payments', 'False', 'NotObserved'],
    ...[address.slice(0, 10), '-', '-', '-', '-'],
  ])
})

test('what a Host says of a View goes as far as the page, and no further', () => {
  const [host] = failing.hosts ?? []
  assert.ok(host)
  const said = { ...host, message: `${'x'.repeat(page.width - 4)} x y` }
  const lines = viewScreenLines(viewSummaryOf(payments({ ...failing, hosts: [said] })), page)
  assert.deepEqual(lines.slice(-2), [`  ${'x'.repeat(page.width - 4)} x`, '  y'])
})

const room = kubernetesRoom()
const views = '/apis/viewmesh.io/v1alpha1/namespaces/apps/views'

test('Views are a table of their own, and below it what wants attention', async () => {
  room.server.put(`${views}/payments`, payments(failing))
  const { code, stdout } = await runPlugin(room.client, ['status'])
  assert.equal(code, 1)
  const [heading, row, ...attention] = stdout.split('\n')
  assert.deepEqual(heading?.split(/ {2,}/), [
    ...['NAMESPACE', 'RESOURCE', 'READY', 'REASON'],
    ...['ID', 'STATE', 'ROWS', 'HOSTS', 'LAST BLOCK'],
  ])
  assert.deepEqual(row?.split(/ +/), [
    ...['apps', 'view/payments', 'False', 'NotServed'],
    ...['0x11111111', 'failed', '7', '0/1', '90'],
  ])
  assert.match(
    attention.join('\n'),
    /view\/payments in apps\n {2}! Ready \(NotServed\): It has failed/,
  )
})

test('status of a View ends with 0 where all serve it; as JSON it has all that the screen has', async () => {
  const conditions = (failing.conditions ?? []).map((one) => ({ ...one, status: 'True' as const }))
  room.server.put(`${views}/payments`, payments({ ...failing, conditions, state: 'live' }))
  const { code, stdout } = await runPlugin(room.client, ['status', 'view/payments', '-o', 'json'])
  const { kind, state, hosts } = JSON.parse(stdout)
  assert.deepEqual([code, kind, state, hosts], [0, 'View', 'live', failing.hosts])
  const one = await runPlugin(room.client, ['status', 'views.viewmesh.io/payments'])
  assert.equal(one.code, 0)
  assert.match(one.stdout, /^View apps\/payments is ready\n/)
  assert.equal((await runPlugin(room.client, ['status'])).code, 0)
})

test('a View that there is not, and a name that none can have, are refused', async () => {
  const none = await runPlugin(room.client, ['status', 'view/none'])
  assert.equal(none.code, 2)
  assert.match(none.stderr, /there is no View none in namespace apps \(PLUGIN_RESOURCE_MISSING\)/)
  for (const name of ['view/', 'view/a/b', 'view/../x', 'view/A']) {
    assert.match((await runPlugin(room.client, ['status', name])).stderr, /PLUGIN_ARGUMENT_INVALID/)
  }
})

/** A Host that is ready. */
function putHost(): void {
  const host = readHost('host-minimal')
  const ready = { ...dated, type: 'Ready', status: 'True', reason: 'AllReady', message: 'Well.' }
  room.server.put('/apis/viewmesh.io/v1alpha1/namespaces/apps/hosts/mainnet', {
    ...host,
    status: { observedGeneration: 1, conditions: [ready] },
  } as KubernetesObject)
}

test('the tables of Hosts and of Views have an empty line between them', async () => {
  putHost()
  room.server.put(`${views}/payments`, payments(failing))
  const { stdout } = await runPlugin(room.client, ['status'])
  const firsts = stdout.split('\n').map((line) => line.split(/ +/).slice(0, 2).join(' '))
  assert.deepEqual(firsts.slice(0, 6), [
    ...['NAMESPACE RESOURCE', 'apps host/mainnet', ''],
    ...['NAMESPACE RESOURCE', 'apps view/payments', ''],
  ])
})

/** Views cannot be listed from now on. */
function refuseViews(code: number, reason: string): void {
  room.server.faults.add(({ path }, response) => {
    if (!path.endsWith('/views')) return false
    send(response, code, status(code, reason, 'views cannot be listed'))
    return true
  })
}

for (const [code, reason, ends, wanted] of [
  [403, 'Forbidden', 1, /^Views are not shown: list views apps: 403/],
  [404, 'NotFound', 0, /^$/],
] as const) {
  test(`Views that cannot be listed (${code}) keep nobody from the status of Hosts`, async () => {
    putHost()
    refuseViews(code, reason)
    const { code: ended, stdout, stderr } = await runPlugin(room.client, ['status'])
    assert.equal(ended, ends)
    assert.match(stdout, /^apps +host\/mainnet +True +AllReady /m)
    assert.match(stderr, wanted)
  })
}

test('a list of Views that fails for another reason ends the command', async () => {
  putHost()
  refuseViews(400, 'BadRequest')
  const { code, stdout, stderr } = await runPlugin(room.client, ['status'])
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /^error: list views apps: 400 views cannot be listed/)
})
