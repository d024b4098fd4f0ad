import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { type Cluster, expectStatus, openCluster } from './support/cluster.ts'
import { diagnoseFailures } from './support/cluster-diagnostics.ts'
import { eventually } from './support/cluster-resources.ts'
import { isLeft, ownerOf, testLabel } from './support/leftovers.ts'

describe('what a killed test left in the cluster', () => {
  const services = '/apis/apiregistration.k8s.io/v1/apiservices'
  const registration = 'v1.left.test.viewmesh.io'
  let cluster: Cluster
  let dead: string
  let left: string

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    cluster = await openCluster()
    dead = await ownerOfKilled()
    left = `viewmesh-test-left-${process.pid}`
    const metadata = { name: left, labels: { [testLabel]: dead } }
    // Another suite that begins may take it away at any moment.
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata }
    await expectStatus(cluster.request('POST', '/api/v1/namespaces', { body }), 201)
    await cluster.apply(`${services}/${registration}`, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: registration, labels: { [testLabel]: dead } },
      spec: {
        group: 'left.test.viewmesh.io',
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { namespace: left, name: 'nobody', port: 443 },
      },
    })
  })
  after(async () => {
    await cluster.request('DELETE', `${services}/${registration}`)
    for (const name of [left, ...cluster.namespaces()]) {
      await cluster.request('DELETE', `/api/v1/namespaces/${name}`)
    }
    cluster.close()
  })

  const ownerOfKilled = async (): Promise<string> => {
    const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'])
    await once(child, 'spawn')
    const owner = ownerOf(child.pid ?? 0)
    child.kill('SIGKILL')
    await once(child, 'exit')
    return owner ?? assert.fail('it does not run')
  }

  test('goes when the next suite begins, also what keeps namespaces from going', async () => {
    const mine = await cluster.createNamespace()
    const next = await openCluster()
    next.close()
    await eventually(async () => {
      for (const path of [`${services}/${registration}`, `/api/v1/namespaces/${left}`]) {
        assert.equal((await cluster.request('GET', path)).status, 404, path)
      }
    })
    const { body } = await expectStatus(cluster.request('GET', `/api/v1/namespaces/${mine}`), 200)
    assert.equal(body.metadata?.['deletionTimestamp'], undefined)
  })

  const minuteMs = 60_000
  const nowMs = Date.parse('2026-01-01T12:00:00Z')
  const madeBefore = (ms: number, owner: string | null, more: object = {}) => ({
    metadata: {
      labels: { [testLabel]: owner ?? '' },
      creationTimestamp: new Date(nowMs - ms).toISOString(),
    },
    ...more,
  })
  const silent = { status: { conditions: [{ type: 'Available', status: 'False' }] } }

  test('is distinguished from what a running one of this machine made, however old', () => {
    assert.equal(isLeft(madeBefore(0, dead), nowMs), true)
    assert.equal(isLeft(madeBefore(1e9, ownerOf(process.pid), silent), nowMs), false)
    const reused = ownerOf(process.pid)?.replace(/\d+$/, '1') ?? ''
    assert.equal(isLeft(madeBefore(0, reused), nowMs), true)
  })

  test('by another machine goes after two hours, and after a minute what does not answer', () => {
    for (const owner of ['0123456789ab.1.1', 'load-metrics', '']) {
      assert.equal(isLeft(madeBefore(120 * minuteMs, owner), nowMs), false)
      assert.equal(isLeft(madeBefore(120 * minuteMs + 1, owner), nowMs), true)
      assert.equal(isLeft(madeBefore(minuteMs, owner, silent), nowMs), false)
      assert.equal(isLeft(madeBefore(minuteMs + 1, owner, silent), nowMs), true)
    }
  })

  test('that is being deleted is not deleted again', () => {
    const { metadata } = madeBefore(1e9, dead)
    const deletionTimestamp = new Date(nowMs).toISOString()
    assert.equal(isLeft({ metadata: { ...metadata, deletionTimestamp } }, nowMs), false)
  })
})
