import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type HealthReport, paths, ports } from '../../src/service/contract.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { markedClaims, normalObjects } from '../support/cluster-objects.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  generatorOf,
  hostOf,
  type Namespaced,
  parked,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

const alone = { LEADER_ELECT: 'false' }

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
  let expected: Readonly<Record<'host' | 'generator' | 'narrow', unknown>>

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster({ env: alone }))
    for (const name of ['model', 'slim']) await here.write(pair(name))
    await here.write(lone('sole'))
    for (const name of ['model', 'slim']) await settled('Host', name)
    await settled('Generator', 'sole', 1)
    await here.write(pair('slim', 1))
    await narrowed('slim')
    const [host, generator, narrow] = await Promise.all(
      ['model', 'sole', 'slim'].map((name) => normalObjects(here, name)),
    )
    expected = { host, generator, narrow }
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const pair = (name: string, replicas = 2): ReturnType<typeof hostOf> =>
    hostOf(name, { replicas, services: { p2p: { type: 'ClusterIP' } }, ...parked })
  const lone = (name: string): ReturnType<typeof generatorOf> =>
    generatorOf(name, { upstream: { podSelector: { matchLabels: { app: 'node' } } }, ...parked })
  const settled = async (kind: 'Generator' | 'Host', name: string, replicas = 2): Promise<void> => {
    await here.reason(kind, name, 'Ready', 'Unschedulable')
    await eventually(async () => {
      const { nodes = [] } = await here.status(kind, name)
      const wanted = nodes.filter(({ ordinal }) => ordinal < replicas)
      assert.equal(wanted.filter(({ keyringFingerprint }) => keyringFingerprint).length, replicas)
      assert.ok((await markedClaims(here, name)) >= 2 * replicas)
      assert.ok(await here.find('Secret', `${name}-${kind.toLowerCase()}-connection`))
    })
  }
  const dataOf = async (secret: string): Promise<Readonly<Record<string, string>>> =>
    (await here.find('Secret', secret))?.data ?? {}
  const keysOf = async (name: string): Promise<Readonly<Record<string, string>>> =>
    await dataOf(`${name}-host-keyring`)
  /** Runs an operator that dies at a moment, until it has. */
  const dieAt = async (
    moment: string,
    write: () => Promise<void>,
    env: Readonly<Record<string, string>> = alone,
  ): Promise<void> => {
    await space.stop('SIGKILL')
    const dying = await space.start({
      env: { ...env, OPERATOR_TEST_DIE_AT: moment },
      expectDeath: true,
    })
    await write()
    assert.equal((await dying.ended()).signal, 'SIGKILL', dying.stdout())
  }

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
    'after apply PersistentVolumeClaim 3',
    'before apply Host/status',
    'after apply Host/status',
  ]
  for (const [index, moment] of creations.entries()) {
    test(`${moment}: the same objects come of it, and keys that were written stay`, async () => {
      const name = `host${index}`
      await dieAt(moment, async () => await here.write(pair(name)))
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
  ]
  for (const [index, moment] of generatorMoments.entries()) {
    test(`${moment} of a Generator: the same objects come of it, and keys that were written stay`, async () => {
      const name = `lone${index}`
      const secrets = ['keyring', 'schema-keys'].map((suffix) => `${name}-generator-${suffix}`)
      await dieAt(moment, async () => await here.write(lone(name)))
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
      await dieAt(moment, async () => await here.write(pair(name)), {})
      await space.start()
      await settled('Host', name)
      assert.deepEqual(await normalObjects(here, name), expected.host)
    })
  }

  const removals = [
    'before delete Service',
    'after delete Service',
    'before delete PodDisruptionBudget',
    'after delete PodDisruptionBudget',
  ]
  for (const [index, moment] of removals.entries()) {
    test(`${moment}, while a replica is taken away: the same objects stay`, async () => {
      const name = `narrow${index}`
      await space.start({ env: alone })
      await here.write(pair(name))
      await settled('Host', name)
      const keys = await keysOf(name)
      await dieAt(moment, async () => await here.write(pair(name, 1)))
      await space.start({ env: alone })
      await narrowed(name)
      assert.deepEqual(await keysOf(name), keys)
      assert.deepEqual(await normalObjects(here, name), expected.narrow)
    })
  }
  const narrowed = async (name: string): Promise<void> => {
    await settled('Host', name, 1)
    await eventually(async () => {
      assert.equal(await here.find('Service', `${name}-host-p2p-1`), null)
      assert.equal(await here.find('PodDisruptionBudget', `${name}-host`), null)
      assert.equal(await here.find('Pod', `${name}-host-1`), null)
    })
  }

  const wide = (replicas: number): ReturnType<typeof hostOf> => hostOf('wide', { replicas })
  /** What each replica is: its pod, its key, and its peer ID as the program itself tells it. */
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
  /** All are ready and none is another, and each has a peer ID of its own, which the status tells. */
  const expectTold = async (running: readonly RunningReplica[]): Promise<void> => {
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

  test('pods that run, and their identities, stay where an operator is killed after it made their StatefulSet, or while it adds replicas', async () => {
    await dieAt('after apply StatefulSet', async () => await here.write(wide(1)))
    let running = await runningReplicas(1)
    await space.start({ env: alone })
    await here.reason('Host', 'wide', 'Ready', 'AllReady')
    await expectTold(running)
    for (const moment of [
      'before patch Secret',
      'after patch Secret',
      'before apply StatefulSet',
    ]) {
      const replicas = running.length + 1
      await dieAt(moment, async () => await here.write(wide(replicas)))
      await space.start({ env: alone })
      const now = await runningReplicas(replicas)
      await expectTold(now)
      assert.deepEqual(now.slice(0, -1), running, moment)
      running = now
    }
  })
})
