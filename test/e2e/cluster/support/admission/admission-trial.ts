/** What admission changes is tried the same way, whether a webhook does it or a policy. */
import assert from 'node:assert/strict'
import { requests } from '../../../../../operator/api/annotations.ts'
import { eventually, hostOf } from '../cluster-resources.ts'
import type { OperatedCluster } from '../operated-cluster.ts'

/** Without pods, which are not what this is about. */
export const none = { replicas: 0 }

/** A container with a variable of this value. */
export const withVariable = (value: string): object => ({
  podTemplate: {
    spec: {
      containers: [{ name: 'host', imagePullPolicy: 'IfNotPresent', env: [{ name: 'A', value }] }],
    },
  },
})

/** Waits until admission is at work in the operator's namespace, then tries a Host of this name. */
export async function tryAdmission(operated: OperatedCluster, name: string): Promise<void> {
  await admitted(operated)
  await tryChanges(operated, name)
}

/** How often anything of a Host was written. */
const writesOf = ({ space }: OperatedCluster, name: string): number =>
  space
    .output()
    .split('\n')
    .filter((line) => line.includes('"object written"') && line.includes(`"${name}-host`)).length

/** Writes a Host, another spec of it and drift, and looks whether what admission changed is taken for drift. */
const tryChanges = async (operated: OperatedCluster, name: string): Promise<void> => {
  const { here } = operated
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
  const written = writesOf(operated, name)
  for (const at of ['1', '2', '3']) {
    await here.patch('Host', name, { metadata: { annotations: { [requests.reconcileAt]: at } } })
    await eventually(async () =>
      assert.equal((await here.status('Host', name)).lastHandledReconcileAt, at),
    )
  }
  assert.equal(writesOf(operated, name), written)
  await here.write(hostOf(name, { ...none, ...withVariable('2') }))
  await here.reason('Host', name, 'Ready', 'ScaledToZero')
  await eventually(async () => assert.equal(writesOf(operated, name), written + 1))
  assert.deepEqual(await notesOf('FieldConflict'), [])
  await here.patch('Service', `${name}-host`, { spec: { selector: { x: 'y' } } })
  await eventually(async () =>
    assert.deepEqual(await notesOf('DriftCorrected'), [
      `Service ${name}-host had been given spec.selector.x.`,
    ]),
  )
  assert.deepEqual(await notesOf('ChangedByAdmission'), reported)
}

/** Waits until what is new of admission is at work. */
const admitted = async ({ cluster, space }: OperatedCluster): Promise<void> => {
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
