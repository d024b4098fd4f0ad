import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bootstrapPeersKey } from '../../../../operator/resources/names/paths.ts'
import { type HealthReport, paths, ports } from '../../../../src/service/contract.ts'
import { peerID } from '../../../support/resources/operator-cases.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { markedClaims, normalObjects } from '../support/cluster-objects.ts'
import { alone, type OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  generatorOf,
  hostOf,
  type Namespaced,
  parked,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

/** Environment of operators that soon take the Lease of one that was killed. */
const impatient = { LEASE_DURATION_MS: '5000', RENEW_DEADLINE_MS: '4000', RETRY_PERIOD_MS: '1000' }

interface RunningReplica {
  readonly pod: string | undefined
  readonly key: string | undefined
  readonly peerID: string
}

describe('an operator that is killed at each of its writes, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  /** Objects of resources at which no operator was killed. */
  let expected: Readonly<Record<'host' | 'owned' | 'generator' | 'narrow', unknown>>

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster({ env: alone }))
    const names = ['model', 'slim', 'edited']
    for (const name of names) await here.write(pair(name))
    await here.write(lone('sole'))
    for (const name of names) await settled('Host', name)
    await settled('Generator', 'sole', 1)
    const host = await normalObjects(here, 'model')
    await here.write(owned('model'))
    await here.write(narrow('slim'))
    await settled('Host', 'model')
    await narrowed('slim')
    const [generator, ofOwned, ofNarrow] = await Promise.all(
      ['sole', 'model', 'slim'].map((name) => normalObjects(here, name)),
    )
    expected = { host, owned: ofOwned, generator, narrow: ofNarrow }
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const pair = (name: string, more: object = {}): ReturnType<typeof hostOf> =>
    hostOf(name, { replicas: 2, services: { p2p: { type: 'ClusterIP' } }, ...parked, ...more })
  /** The same with keys that go together with it. */
  const owned = (name: string): ReturnType<typeof hostOf> =>
    pair(name, { identity: { deletionPolicy: 'Delete' } })
  /** The same with less of everything that a Host can do without. */
  const narrow = (name: string): ReturnType<typeof hostOf> =>
    pair(name, { replicas: 1, networkPolicy: { enabled: false } })
  const lone = (name: string): ReturnType<typeof generatorOf> =>
    generatorOf(name, { upstream: { podSelector: { matchLabels: { app: 'node' } } }, ...parked })
  const settled = async (kind: 'Generator' | 'Host', name: string, replicas = 2): Promise<void> => {
    await here.reason(kind, name, 'Ready', 'Unschedulable')
    await eventually(async () => {
      const { nodes = [] } = await here.status(kind, name)
      const wanted = nodes.filter(({ ordinal }) => ordinal < replicas)
      assert.equal(wanted.filter(({ keyringFingerprint }) => keyringFingerprint).length, replicas)
      assert.ok((await markedClaims(here, name)) >= replicas)
      assert.ok(await here.find('Secret', `${name}-${kind.toLowerCase()}-connection`))
    })
  }
  const dataOf = async (secret: string): Promise<Readonly<Record<string, string>>> =>
    (await here.find('Secret', secret))?.data ?? {}
  const keysOf = async (name: string): Promise<Readonly<Record<string, string>>> =>
    await dataOf(`${name}-host-keyring`)
  const creations = [
    'before apply Secret',
    'before create Secret',
    'after create Secret',
    'before apply ServiceAccount',
    'before apply ConfigMap',
    'before apply Service',
    'before apply Service 3',
    'before apply NetworkPolicy',
    'before apply PodDisruptionBudget',
    'before apply StatefulSet',
    'after apply StatefulSet',
    'before apply PersistentVolumeClaim',
    'after apply PersistentVolumeClaim',
    'before apply Host/status',
    'after apply Host/status',
    'before create Event',
  ]
  for (const [index, moment] of creations.entries()) {
    test(`${moment}: the same objects come of it, and keys that were written stay`, async () => {
      const name = `host${index}`
      await space.dieAt(moment, async () => await here.write(pair(name)))
      const keys = await keysOf(name)
      await space.start({ env: alone })
      await settled('Host', name)
      for (const [ordinal, key] of Object.entries(keys)) {
        assert.equal((await keysOf(name))[ordinal], key)
      }
      assert.deepEqual(await normalObjects(here, name), expected.host)
    })
  }

  const generatorMoments = [
    'before create Secret',
    'after create Secret',
    'before apply Secret',
    'after apply Secret',
    'after apply Secret 2',
    'before apply ConfigMap',
    'before apply StatefulSet',
    'after apply StatefulSet',
    'before apply PersistentVolumeClaim',
    'after apply PersistentVolumeClaim',
    'before apply Generator/status',
  ]
  for (const [index, moment] of generatorMoments.entries()) {
    test(`${moment} of a Generator: the same objects come of it, and keys that were written stay`, async () => {
      const name = `lone${index}`
      const secrets = ['keyring', 'schema-keys'].map((suffix) => `${name}-generator-${suffix}`)
      await space.dieAt(moment, async () => await here.write(lone(name)))
      const written = await Promise.all(secrets.map(dataOf))
      await space.start({ env: alone })
      await settled('Generator', name, 1)
      const now = await Promise.all(secrets.map(dataOf))
      for (const [place, data] of written.entries())
        assert.deepEqual({ ...now[place], ...data }, now[place])
      const { 'schema-key': shown } = await dataOf(`${name}-generator-connection`)
      assert.equal(shown, now[1]?.['keys'])
      assert.deepEqual(await normalObjects(here, name), expected.generator)
    })
  }

  const elections = ['before create Lease', 'after replace Lease']
  for (const [index, moment] of elections.entries()) {
    test(`${moment}: the next operator takes over, and the same objects come of it`, async () => {
      const name = `led${index}`
      await space.dieAt(moment, async () => await here.write(pair(name)), impatient)
      await space.start({ env: impatient })
      await settled('Host', name)
      assert.deepEqual(await normalObjects(here, name), expected.host)
    })
  }

  const removals = [
    'before delete NetworkPolicy',
    'after delete NetworkPolicy',
    'before delete PodDisruptionBudget',
    'after delete PodDisruptionBudget',
    'before delete Service',
    'after delete Service',
  ]
  test('operators killed around each deletion of a replica and a policy keep the same objects', async () => {
    await space.start({ env: alone })
    await here.write(pair('narrow'))
    await settled('Host', 'narrow')
    const keys = await keysOf('narrow')
    await space.stop('SIGKILL')
    await here.write(narrow('narrow'))
    for (const moment of removals) await space.dieAt(moment)
    await space.start({ env: alone })
    await narrowed('narrow')
    assert.deepEqual(await keysOf('narrow'), keys)
    assert.deepEqual(await normalObjects(here, 'narrow'), expected.narrow)
  })

  test('operators killed while they remove the StatefulSet of a lost keys claim lose no key or pod', async () => {
    await space.start({ env: alone })
    await here.write(pair('lost'))
    await settled('Host', 'lost')
    const keys = await keysOf('lost')
    const template = await recordOf('StatefulSet', 'lost-host')
    assert.ok(template)
    const pods = async (): Promise<unknown[]> =>
      await Promise.all(
        [0, 1].map(
          async (ordinal) => (await here.find('Pod', `lost-host-${ordinal}`))?.metadata.uid,
        ),
      )
    const before = await pods()
    await space.stop('SIGKILL')
    await here.delete('PersistentVolumeClaim', 'keys-lost-host-1')
    for (const kind of ['apply ConfigMap', 'delete StatefulSet']) {
      for (const when of ['before', 'after']) await space.dieAt(`${when} ${kind}`)
    }
    await space.start({ env: alone })
    await here.reason('Host', 'lost', 'Stalled', 'KeysClaimMissing')
    assert.equal(await here.find('StatefulSet', 'lost-host'), null)
    assert.equal(await recordOf('ConfigMap', 'lost-host-config'), template)
    assert.deepEqual(await keysOf('lost'), keys)
    assert.deepEqual(await pods(), before)
  })
  const recordOf = async (kind: 'ConfigMap' | 'StatefulSet', name: string): Promise<unknown> =>
    (await here.find(kind, name))?.metadata.annotations?.['viewmesh.io/pod-template']

  const narrowed = async (name: string): Promise<void> => {
    await settled('Host', name, 1)
    await eventually(async () => {
      assert.equal(await here.find('Service', `${name}-host-p2p-1`), null)
      assert.equal(await here.find('PodDisruptionBudget', `${name}-host`), null)
      assert.equal(await here.find('NetworkPolicy', `${name}-host`), null)
      assert.equal(await here.find('Pod', `${name}-host-1`), null)
    })
  }

  /** Waits until the Host that is never recreated has the objects of another. */
  const editedIs = async (like: keyof typeof expected): Promise<void> =>
    await eventually(
      async () => assert.deepEqual(await normalObjects(here, 'edited'), expected[like]),
      30_000,
    )

  const policies = [
    ['before patch Secret', 'Delete'],
    ['after patch Secret', 'Retain'],
  ] as const
  for (const [moment, deletionPolicy] of policies) {
    test(`${moment}: a deletion policy that becomes ${deletionPolicy} keeps objects and keys`, async () => {
      const keys = await keysOf('edited')
      const isOwned = deletionPolicy === 'Delete'
      await space.dieAt(
        moment,
        async () => await here.write(isOwned ? owned('edited') : pair('edited')),
      )
      await space.start({ env: alone })
      await editedIs(isOwned ? 'owned' : 'host')
      assert.deepEqual(await keysOf('edited'), keys)
    })
  }

  const edits = [
    ['before patch StatefulSet', '/spec/template/spec/containers/0/name', 'another'],
    ['after patch Service', '/spec/ports/0/port', 1],
  ] as const
  for (const [moment, path, value] of edits) {
    test(`${moment}: a foreign edit of ${path} is still reverted`, async () => {
      const kind = moment.endsWith('Service') ? 'Service' : 'StatefulSet'
      await space.dieAt(moment, async () => {
        const { status } = await cluster.request('PATCH', here.path(kind, 'edited-host'), {
          body: [{ op: 'replace', path, value }],
          type: 'application/json-patch+json',
        })
        assert.equal(status, 200)
      })
      await space.start({ env: alone })
      await editedIs('host')
    })
  }

  test('before patch Event: a kill while repeated Events are counted changes no object', async () => {
    const dying = await space.start({ env: alone, dieAt: 'before patch Event' })
    const { data } = (await here.find('ConfigMap', 'edited-host-config')) ?? {}
    for (const _ of ['once', 'again']) {
      await here.patch('ConfigMap', 'edited-host-config', {
        data: { [bootstrapPeersKey]: 'others' },
      })
      await eventually(async () => {
        const found = await here.find('ConfigMap', 'edited-host-config')
        assert.deepEqual(found?.data, data)
      })
    }
    await space.stop('SIGTERM')
    assert.equal((await dying.ended()).signal, 'SIGKILL', dying.stdout())
    await space.start({ env: alone })
    await editedIs('host')
  })

  const wide = (replicas: number, more: object = {}): ReturnType<typeof hostOf> =>
    hostOf('wide', { replicas, ...more })
  /** What each replica is: its pod, its key, and its peer ID as the program itself reports it. */
  const runningReplicas = async (replicas: number): Promise<RunningReplica[]> =>
    await eventually(async () => {
      const keys = await keysOf('wide')
      return await Promise.all(
        Array.from({ length: replicas }, async (_, ordinal) => {
          const pod = await here.find('Pod', `wide-host-${ordinal}`)
          const path = `${here.path('Pod', `wide-host-${ordinal}`)}:${ports.health}/proxy${paths.health}`
          const { body } = await cluster.request('GET', path)
          const { p2p } = body as unknown as Partial<HealthReport>
          assert.ok(p2p?.self?.id)
          return { pod: pod?.metadata.uid, key: keys[ordinal], peerID: p2p.self.id }
        }),
      )
    })
  /** All are ready and none is another, and each has a peer ID of its own, which the status has. */
  const expectReported = async (running: readonly RunningReplica[]): Promise<void> => {
    const peerIDs = running.map(({ peerID }) => peerID)
    assert.equal(new Set(peerIDs).size, running.length)
    await eventually(async () => {
      const { nodes = [], pods } = await here.status('Host', 'wide')
      assert.equal(pods, `${running.length}/${running.length}`)
      assert.deepEqual(
        nodes.map(({ peerID }) => peerID),
        peerIDs,
      )
    })
    assert.deepEqual(await runningReplicas(running.length), running)
  }

  test('running pods keep their identities when an operator is killed at any write', async () => {
    await space.dieAt('after apply StatefulSet', async () => await here.write(wide(1)))
    let running = await runningReplicas(1)
    await space.start({ env: alone })
    await here.reason('Host', 'wide', 'Ready', 'AllReady')
    await expectReported(running)
    for (const moment of [
      'before patch Secret',
      'after patch Secret',
      'before apply StatefulSet',
    ]) {
      const replicas = running.length + 1
      await space.dieAt(moment, async () => await here.write(wide(replicas)))
      await space.start({ env: alone })
      const now = await runningReplicas(replicas)
      await expectReported(now)
      assert.deepEqual(now.slice(0, -1), running, moment)
      running = now
    }
    for (const moment of ['before patch Pod', 'after patch Pod']) {
      const bootstrapPeers = [`/dns4/${moment.slice(0, 5)}.example.org/tcp/9171/p2p/${peerID}`]
      await space.dieAt(
        moment,
        async () => await here.write(wide(running.length, { bootstrapPeers })),
      )
      await space.start({ env: alone })
      await expectReported(running)
    }
  })
})
