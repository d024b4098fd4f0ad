import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { requests } from '../../../../operator/api/annotations.ts'
import type { HealthReport } from '../../../../src/service/contract.ts'
import { type Cluster, expectStatus } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { alone, type OperatorSpace } from '../support/cluster-operator.ts'
import { eventually, hostOf, type Namespaced } from '../support/cluster-resources.ts'
import { testLabels } from '../support/leftovers.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'
import { podLife } from '../support/pod-life.ts'

const classes = '/apis/storage.k8s.io/v1/storageclasses'

describe('volumes that grow, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let className: string

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster({ env: alone }))
    className = `${space.namespace}-growing`
    const { body } = await expectStatus(cluster.request('GET', classes), 200)
    await cluster.apply(`${classes}/${className}`, growingClass(className, body))
    await here.write(sized('grown', '10Mi', className))
    await here.write(sized('fixed', '10Mi'))
    await here.reason('Host', 'grown', 'Ready', 'AllReady')
    await here.reason('Host', 'fixed', 'Ready', 'AllReady')
  })
  after(async () => {
    await space.close()
    await cluster.request('DELETE', `${classes}/${className}`)
    cluster.close()
  })

  const sized = (
    name: string,
    size: string,
    storageClassName?: string,
    more: object = {},
  ): ReturnType<typeof hostOf> => {
    const given = storageClassName === undefined ? {} : { storageClassName }
    return hostOf(name, { storage: { keys: { size: '1Mi' }, data: { size, ...given }, ...more } })
  }
  /** Says of a claim for blocks what a real driver would. */
  const tellStorage = async (status: object, name = 'data-grown-host-0'): Promise<void> => {
    const path = `${here.path('PersistentVolumeClaim', name)}/status`
    const type = 'application/merge-patch+json'
    await expectStatus(cluster.request('PATCH', path, { body: { status }, type }), 200)
  }
  /** Says that the storage has done its part. */
  const finishGrowth = (size: string, claim?: string): Promise<void> =>
    tellStorage({ capacity: { storage: size }, conditions: [] }, claim)
  /** What the claim for blocks asks for. */
  const requested = async (name: string): Promise<string | undefined> => {
    const claim = await here.find('PersistentVolumeClaim', `data-${name}-host-0`)
    const spec = claim?.spec as { resources?: { requests?: { storage?: string } } } | undefined
    return spec?.resources?.requests?.storage
  }
  const templateSize = async (name = 'grown'): Promise<string | undefined> => {
    const set = await here.find('StatefulSet', `${name}-host`)
    const { volumeClaimTemplates = [] } = (set?.spec ?? {}) as {
      volumeClaimTemplates?: {
        metadata: { name: string }
        spec: { resources: { requests: { storage: string } } }
      }[]
    }
    return volumeClaimTemplates.find(({ metadata }) => metadata.name === 'data')?.spec.resources
      .requests.storage
  }
  /** What the pod itself says at `/health`. */
  const askedPeerID = async (): Promise<string> => {
    const path = `${here.path('Pod', 'grown-host-0')}:8080/proxy/health`
    const { body } = await expectStatus(cluster.request('GET', path), 200)
    return (body as unknown as HealthReport).p2p.self?.id ?? assert.fail('it knows no peer ID')
  }
  /** The earliest time at which a claim can have begun to wait for another start of the pod. */
  const afterStart = async (): Promise<string> => {
    const pod = await here.find('Pod', 'grown-host-0')
    const { creationTimestamp } = pod?.metadata ?? assert.fail('there is no pod')
    return new Date(Date.parse(creationTimestamp) + 1_000).toISOString()
  }
  const podOf = async (): Promise<unknown> => await podLife(here, 'grown-host-0')
  const hasAsked = async (size: string): Promise<void> =>
    await eventually(async () => {
      assert.equal(await requested('grown'), size)
      assert.equal(await templateSize(), size)
    })
  const settled = async (size: string): Promise<void> => {
    await hasAsked(size)
    await here.reason('Host', 'grown', 'StorageReady', 'Expanding')
    await finishGrowth(size)
    await here.reason('Host', 'grown', 'StorageReady', 'Bound')
    await here.reason('Host', 'grown', 'Ready', 'AllReady')
  }

  test('a class that allows it: claims and StatefulSet grow, and the pod goes on as it is', async () => {
    const before = await podOf()
    await here.write(sized('grown', '20Mi', className))
    await settled('20Mi')
    assert.deepEqual(await podOf(), before)
  })

  test('growth with a new template replaces each pod once, and Ready waits for all', async () => {
    const both = (size: string, changed: object = {}): ReturnType<typeof hostOf> => {
      const storage = { keys: { size: '1Mi' }, data: { size, storageClassName: className } }
      return hostOf('both', { replicas: 2, storage, ...changed })
    }
    const names = ['both-host-0', 'both-host-1']
    const uids = async (): Promise<unknown[]> =>
      await Promise.all(names.map(async (name) => (await here.find('Pod', name))?.metadata.uid))
    await here.write(both('10Mi'))
    await here.reason('Host', 'both', 'Ready', 'AllReady')
    const before = await uids()
    const containers = [{ name: 'host', env: [{ name: 'LOG_LEVEL', value: 'debug' }] }]
    await here.write(both('20Mi', { podTemplate: { spec: { containers } } }))
    await eventually(async () => assert.equal(await requested('both'), '20Mi'))
    for (const name of names) await finishGrowth('20Mi', `data-${name}`)
    await here.reason('Host', 'both', 'Ready', 'AllReady')
    const after = await uids()
    assert.ok(before.every((uid) => !after.includes(uid)))
    await eventually(async () => assert.equal(await templateSize('both'), '20Mi'))
    await here.reason('Host', 'both', 'Ready', 'AllReady')
    assert.deepEqual(await uids(), after)
    await here.delete('Host', 'both')
  })

  const moments = [
    'before apply PersistentVolumeClaim',
    'after apply PersistentVolumeClaim',
    'before apply ConfigMap',
    'after apply ConfigMap',
    'after apply Pod',
    'before delete StatefulSet',
    'after delete StatefulSet',
    'before apply StatefulSet',
    'after apply StatefulSet',
  ]
  for (const [index, moment] of moments.entries()) {
    test(`an operator that is killed ${moment} leaves the same pod, and the next one finishes`, async () => {
      const before = await podOf()
      const size = `${21 + index}Mi`
      await space.dieAt(moment, async () => await here.write(sized('grown', size, className)))
      await space.start({ env: alone })
      await settled(size)
      assert.deepEqual(await podOf(), before)
      await eventually(async () => {
        const { ownerReferences = [] } = (await here.find('Pod', 'grown-host-0'))?.metadata ?? {}
        const set = await here.find('StatefulSet', 'grown-host')
        assert.deepEqual(
          ownerReferences.map(({ uid }) => uid),
          [set?.metadata.uid],
        )
        const found = await here.find('ConfigMap', 'grown-host-config')
        assert.equal(found?.metadata.annotations?.['viewmesh.io/pod-template'], undefined)
      })
    })
  }

  test('restartToResize restarts a pod once, also by killed operators, and keeps its peer ID', async () => {
    const before = await podOf()
    const peerID = await askedPeerID()
    await here.write(sized('grown', '30Mi', className))
    await hasAsked('30Mi')
    const lastTransitionTime = await afterStart()
    const pending = { type: 'FileSystemResizePending', status: 'True', lastTransitionTime }
    await tellStorage({ conditions: [pending] })
    await eventually(async () => {
      const reported = await here.condition('Host', 'grown', 'StorageReady')
      assert.equal(reported?.reason, pending.type)
      assert.match(reported.message, /Set spec\.storage\.restartToResize/)
    }, 240_000)
    const waitedMs = Date.now() - Date.parse(lastTransitionTime)
    assert.ok(waitedMs >= 180_000, `storage that grows file systems in use needs ${waitedMs} ms`)
    assert.deepEqual(await podOf(), before)

    const asking = sized('grown', '30Mi', className, { restartToResize: true })
    await space.dieAt('before delete Pod', async () => await here.write(asking))
    assert.deepEqual(await podOf(), before)
    await space.dieAt('after delete Pod')
    await space.start({ env: alone })
    await eventually(async () => {
      const reported = await here.condition('Host', 'grown', 'StorageReady')
      assert.match(reported?.message ?? '', /Of data-grown-host-0 the pod was made since/)
    })
    await eventually(async () => {
      assert.equal(await askedPeerID(), peerID)
      assert.equal((await here.status('Host', 'grown')).pods, '1/1')
    })
    const restarted = await podOf()
    assert.notDeepEqual(restarted, before)

    const again = { metadata: { annotations: { 'viewmesh.io/reconcile-at': 'after the start' } } }
    await here.patch('Host', 'grown', again)
    await eventually(async () => {
      const { lastHandledReconcileAt } = await here.status('Host', 'grown')
      assert.equal(lastHandledReconcileAt, 'after the start')
    })
    assert.deepEqual(await podOf(), restarted)
    // The Event went with the operator that was killed; one now would be of another start.
    assert.deepEqual(await here.notes('PodRestarted'), [])
    await finishGrowth('30Mi')
    await here.reason('Host', 'grown', 'StorageReady', 'Bound')
    await here.reason('Host', 'grown', 'Ready', 'AllReady')
  })

  test('a class that does not: a condition says so, and the old size brings it back', async () => {
    await here.write(sized('fixed', '20Mi'))
    const { message } = await here.reason('Host', 'fixed', 'StorageReady', 'ExpansionUnsupported')
    assert.match(message, /data-fixed-host-0 with 10Mi.*put the old size back/)
    assert.equal(await requested('fixed'), '10Mi')
    await assert.rejects(here.write(sized('fixed', '9Mi')), /data.size cannot shrink below/)
    await here.write(sized('fixed', '10Mi'))
    await here.reason('Host', 'fixed', 'StorageReady', 'Bound')
    await here.reason('Host', 'fixed', 'Ready', 'AllReady')
  })

  test('a class that lets keys not grow does not hold back the blocks in another one', async () => {
    const storage = {
      keys: { size: '2Mi' },
      data: { size: '40Mi', storageClassName: className },
    }
    await here.write(hostOf('grown', { storage }))
    await here.reason('Host', 'grown', 'StorageReady', 'ExpansionUnsupported')
    await eventually(async () => assert.equal(await requested('grown'), '40Mi'))
  })

  test('Ready names the claim whose StorageClass does not exist', async () => {
    await here.write(sized('classless', '10Mi', 'no-such-class'))
    await eventually(async () => {
      const pod = await here.find('Pod', 'classless-host-0')
      const { conditions = [] } = (pod?.status ?? {}) as PodStatus
      assert.ok(conditions.some(({ reason }) => reason === 'Unschedulable'))
    })
    const again = { metadata: { annotations: { [requests.reconcileAt]: 'once it is reported' } } }
    await here.patch('Host', 'classless', again)
    await eventually(async () => {
      const { lastHandledReconcileAt } = await here.status('Host', 'classless')
      assert.equal(lastHandledReconcileAt, 'once it is reported')
    })
    const { reason, message = '' } = (await here.condition('Host', 'classless', 'Ready')) ?? {}
    assert.equal(reason, 'WaitingForStorage')
    assert.match(message, /data-classless-host-0 of class no-such-class/)
    assert.match(message, /kubectl describe pvc .*data-classless-host-0 --namespace .* says why/)
    await here.delete('Host', 'classless')
  })
})

interface PodStatus {
  readonly conditions?: readonly { readonly reason?: string }[]
}

/** A class like the cluster's default one, but for its name and that its volumes may grow. */
function growingClass(name: string, list: object): object {
  const { items } = list as { readonly items: readonly DefaultClass[] }
  const isDefault = 'storageclass.kubernetes.io/is-default-class'
  const standard = items.find(({ metadata }) => metadata.annotations?.[isDefault] === 'true')
  assert.ok(standard, 'the cluster has a default StorageClass')
  const { metadata, provisioner, parameters, volumeBindingMode } = standard
  const annotations = { ...metadata.annotations, [isDefault]: 'false' }
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, annotations, labels: testLabels() },
    provisioner,
    ...(parameters === undefined ? {} : { parameters }),
    volumeBindingMode,
    allowVolumeExpansion: true,
  }
}

interface DefaultClass {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  readonly provisioner: string
  readonly parameters?: object
  readonly volumeBindingMode: string
}
