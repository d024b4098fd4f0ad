import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { requests } from '../../../../operator/api/annotations.ts'
import {
  addDeadWebhook,
  addMutatingPolicies,
  mutatingPolicyVersion,
  openMutatingWebhook,
  type RemoveAdmission,
} from '../support/admission.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  hostOf,
  type LiveObject,
  type Namespaced,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

/** Without pods, which are not what this is about. */
const none = { replicas: 0 }

describe('admission that fails, or changes what is applied, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let remove: RemoveAdmission | null = null

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
  })
  afterEach(async () => {
    await remove?.()
    remove = null
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const withVariable = (value: string): object => ({
    podTemplate: {
      spec: {
        containers: [
          { name: 'host', imagePullPolicy: 'IfNotPresent', env: [{ name: 'A', value }] },
        ],
      },
    },
  })

  const wait = async (name: string, seconds: number): Promise<number> => {
    const what = ['wait', '--for=condition=Ready', `host/${name}`, `--timeout=${seconds}s`]
    return (await cluster.kubectl(['--namespace', space.namespace, ...what])).code
  }

  test('kubectl wait does not succeed while a webhook that fails keeps the spec from being written', async () => {
    await here.write(hostOf('kept', none))
    assert.equal(await wait('kept', 60), 0)
    remove = await addDeadWebhook(cluster, space.namespace)
    await eventually(async () => {
      const query = { dryRun: 'All' }
      const path = here.path('StatefulSet', 'kept-host')
      const body = { metadata: { annotations: { a: 'b' } } }
      const type = 'application/merge-patch+json'
      assert.equal((await cluster.request('PATCH', path, { body, query, type })).status, 500)
    })
    await here.write(hostOf('kept', { ...none, ...withVariable('1') }))
    const { message } = await here.reason('Host', 'kept', 'Reconciling', 'ProgressingWithRetry')
    assert.match(message, /apply statefulsets .*: 500 .*failed calling webhook "test.viewmesh.io"/)
    assert.equal(await wait('kept', 5), 1)
    const host = (await here.find('Host', 'kept')) as LiveObject
    const { observedGeneration = 0 } = await here.status('Host', 'kept')
    assert.ok(observedGeneration < (host.metadata.generation ?? 0))
    await remove()
    remove = null
    assert.equal(await wait('kept', 120), 0)
    assert.equal((await here.status('Host', 'kept')).observedGeneration, host.metadata.generation)
  })

  /** How often anything of a Host was written. */
  const writesOf = (name: string): number =>
    space
      .output()
      .split('\n')
      .filter((line) => line.includes('"object written"') && line.includes(`"${name}-host`)).length

  /** Writes a Host, another spec of it and drift, and looks whether what admission changed is taken for drift. */
  const tryChanges = async (name: string): Promise<void> => {
    const notesOf = async (reason: string): Promise<string[]> =>
      (await here.notes(reason)).filter((note) => note.includes(`${name}-host`)).toSorted()
    await here.write(hostOf(name, { ...none, ...withVariable('1') }))
    await here.reason('Host', name, 'Ready', 'ScaledToZero')
    const reported = await eventually(async () => {
      const notes = await notesOf('ChangedByAdmission')
      assert.equal(notes.length, 3, notes.join('\n'))
      return notes
    })
    assert.deepEqual(
      reported.map((note) => /^(\w+ \S+) .*: (\S+)\. They are left so\.$/.exec(note)?.slice(1)),
      [
        [`Service ${name}-host`, 'metadata.labels.app.kubernetes.io/part-of'],
        [`Service ${name}-host-nodes`, 'metadata.labels.app.kubernetes.io/part-of'],
        [`StatefulSet ${name}-host`, 'spec.template.spec.containers[host].imagePullPolicy'],
      ],
    )
    const written = writesOf(name)
    for (const at of ['1', '2', '3']) {
      await here.patch('Host', name, { metadata: { annotations: { [requests.reconcileAt]: at } } })
      await eventually(async () =>
        assert.equal((await here.status('Host', name)).lastHandledReconcileAt, at),
      )
    }
    assert.equal(writesOf(name), written)
    await here.write(hostOf(name, { ...none, ...withVariable('2') }))
    await here.reason('Host', name, 'Ready', 'ScaledToZero')
    await eventually(async () => assert.equal(writesOf(name), written + 1))
    assert.deepEqual(await notesOf('FieldConflict'), [])
    await here.patch('Service', `${name}-host`, { spec: { selector: { x: 'y' } } })
    await eventually(async () =>
      assert.deepEqual(await notesOf('DriftCorrected'), [
        `Service ${name}-host had been given spec.selector.x.`,
      ]),
    )
    assert.deepEqual(await notesOf('ChangedByAdmission'), reported)
  }

  test('what a webhook changes is written once, reported once, and no drift', async () => {
    remove = await openMutatingWebhook(cluster, space.namespace)
    await admitted()
    await tryChanges('webhook')
  })

  test('what a MutatingAdmissionPolicy changes is written once, reported once, and no drift', async (t) => {
    const version = await mutatingPolicyVersion(cluster)
    if (version === null) {
      t.skip(
        'NOT RUN: this cluster knows no MutatingAdmissionPolicy (beta in 1.34, off by default)',
      )
      return
    }
    remove = await addMutatingPolicies(cluster, space.namespace, version)
    await admitted()
    await tryChanges('policy')
  })

  /** Waits until what is new of admission is at work. */
  const admitted = async (): Promise<void> => {
    const { namespace } = space
    await eventually(async () => {
      const name = 'tried'
      const labels = { 'app.kubernetes.io/part-of': 'ours' }
      const { body } = await cluster.request('POST', `/api/v1/namespaces/${namespace}/services`, {
        body: {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name, labels },
          spec: { ports: [{ port: 1 }] },
        },
        query: { dryRun: 'All' },
      })
      assert.equal(
        Reflect.get(body.metadata?.['labels'] ?? {}, 'app.kubernetes.io/part-of'),
        'theirs',
      )
      const containers = [{ name: 'a', image: 'a', imagePullPolicy: 'Never' }]
      const template = { metadata: { labels }, spec: { containers } }
      const spec = { selector: { matchLabels: labels }, template }
      const answer = await cluster.request(
        'POST',
        `/apis/apps/v1/namespaces/${namespace}/statefulsets`,
        {
          body: { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name, labels }, spec },
          query: { dryRun: 'All' },
        },
      )
      assert.match(JSON.stringify(answer.body.spec), /"imagePullPolicy":"Always"/)
    })
  }
})
