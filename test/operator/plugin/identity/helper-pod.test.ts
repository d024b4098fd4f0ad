/** The pod that has a keys claim mounted for a moment: what it may, and what is said where it does not start. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Pod } from '@kubernetes/client-node'
import { withHelperPod } from '../../../../operator/plugin/identity/helper-pod.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { running } from '../../support/volumes-cluster.ts'

const room = kubernetesRoom()
const pods = '/api/v1/namespaces/apps/pods'
const options = {
  ...{ namespace: 'apps', claim: 'keys-mainnet-host-0', image: 'registry.example.org/host:1' },
  placement: { nodeSelector: { disk: 'fast' } },
}

type Change = readonly [type: 'MODIFIED' | 'DELETED', status: NonNullable<V1Pod['status']>]

/** The pod that was created, and where it is. */
function created(): { readonly pod: V1Pod; readonly path: string } {
  const { body } = room.server.requests.find(({ method }) => method === 'POST') ?? {}
  const pod = body as V1Pod
  return { pod, path: `${pods}/${pod.metadata?.name}` }
}

/** Uses a helper of which these changes are heard, and then no more. */
async function useHelper(changes: readonly Change[], readOnly = true): Promise<unknown> {
  room.server.faults.add(({ path, query }, response) => {
    if (path !== pods || query['watch'] !== 'true') return false
    const object = room.server.get(created().path)
    const events = changes.map(([type, status]) => ({ type, object: { ...object, status } }))
    response.end(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    return true
  })
  return await withHelperPod(room.client.api, { ...options, readOnly }, async (address) => address)
}

const waiting = (reason: string, message?: string): NonNullable<V1Pod['status']> => {
  const [started] = running('keys').containerStatuses ?? []
  assert.ok(started)
  const state = { waiting: { reason, ...(message !== undefined && { message }) } }
  return { phase: 'Pending', containerStatuses: [{ ...started, state }] }
}

test('a helper has its claim and nothing else: no token, no neighbours, ten minutes to live', async () => {
  const changes = [
    ['MODIFIED', waiting('ContainerCreating')],
    ['MODIFIED', running('keys')],
  ] as const
  const used = await useHelper(changes, false)
  const { pod, path } = created()
  assert.deepEqual(used, { namespace: 'apps', pod: pod.metadata?.name, container: 'keys' })
  assert.match(pod.metadata?.name ?? '', /^viewmesh-keys-[0-9a-f]{8}$/)
  const { containers, securityContext: _, ...spec } = pod.spec ?? {}
  assert.deepEqual(spec, {
    ...{ nodeSelector: { disk: 'fast' }, restartPolicy: 'Never', activeDeadlineSeconds: 600 },
    ...{ terminationGracePeriodSeconds: 0, automountServiceAccountToken: false },
    enableServiceLinks: false,
    volumes: [{ name: 'keys', persistentVolumeClaim: { claimName: 'keys-mainnet-host-0' } }],
  })
  const [{ command, volumeMounts } = {}, ...others] = containers ?? []
  assert.deepEqual(others, [])
  assert.deepEqual(command, ['node', '-e', 'setTimeout(() => undefined, 600000)'])
  assert.deepEqual(volumeMounts, [
    { name: 'keys', mountPath: '/app/.viewmesh/keys', readOnly: false },
  ])
  const { query } = room.server.requests.find((one) => one.query['watch'] === 'true') ?? {}
  assert.equal(query?.['timeoutSeconds'], '180')
  assert.equal(room.server.get(path), undefined)
})

const uninitialized = { type: 'Initialized', status: 'False', message: 'containers wait' }
const unplaced = { type: 'PodScheduled', status: 'False', message: '0/1 nodes are available' }
for (const [what, change, why] of [
  ['was evicted', ['MODIFIED', { phase: 'Failed', message: 'no room' }], 'no room'],
  ['was late', ['MODIFIED', { phase: 'Failed', reason: 'DeadlineExceeded' }], 'DeadlineExceeded'],
  ['ended', ['MODIFIED', { phase: 'Failed' }], 'it ended'],
  ['was deleted', ['DELETED', running('keys')], 'it was deleted'],
  [
    'cannot get its image',
    ['MODIFIED', waiting('ErrImagePull', 'no such image')],
    'ErrImagePull no such image',
  ],
  ['crashes', ['MODIFIED', waiting('CrashLoopBackOff')], 'CrashLoopBackOff'],
  [
    'has no machine',
    ['MODIFIED', { ...waiting('Queued'), conditions: [uninitialized, unplaced] }],
    '0/1 nodes are available',
  ],
  ['waits for its volume', ['MODIFIED', waiting('ContainerCreating')], 'ContainerCreating'],
  ['says nothing', ['MODIFIED', {}], 'it is still Pending after 180 s'],
] as const satisfies readonly (readonly [string, Change, string])[]) {
  test(`a helper that ${what} is reported with that, and is taken away`, async () => {
    await assert.rejects(useHelper([change]), (error: Error) => {
      const { pod, path } = created()
      assert.equal(
        error.message,
        `pod apps/${pod.metadata?.name}, which is to mount claim keys-mainnet-host-0, does not start: ${why}`,
      )
      assert.equal(room.server.get(path), undefined)
      return true
    })
  })
}

test('where a helper may not be watched that is the failure, and it is taken away', async () => {
  room.server.faults.add(({ path, query }, response) => {
    if (path !== pods || query['watch'] !== 'true') return false
    send(response, 403, status(403, 'Forbidden', 'no'))
    return true
  })
  const used = withHelperPod(room.client.api, { ...options, readOnly: true }, async () => null)
  await assert.rejects(used, { code: 'OPERATOR_API_FORBIDDEN' })
  assert.equal(room.server.get(created().path), undefined)
})

test('whoever gives up while a helper starts waits no more, and it is taken away', async () => {
  const stop = new AbortController()
  room.server.faults.add(({ path, query }) => {
    if (path === pods && query['watch'] === 'true') stop.abort(new Error('given up'))
    return false
  })
  const given = { ...options, readOnly: true }
  const used = withHelperPod(room.client.api, given, async () => null, stop.signal)
  await assert.rejects(used, { message: 'given up' })
  assert.equal(room.server.get(created().path), undefined)
})
