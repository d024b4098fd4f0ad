import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { blocksOf, commandsOf } from '../../../docs/support/page.ts'
import { repository } from '../../../support/repository.ts'
import { canAccount } from '../support/can-i.ts'
import { type Cluster, expectStatus } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { clusterImage } from '../support/cluster-image.ts'
import { madeKinds } from '../support/cluster-objects.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import { askedReason, eventually, type Namespaced } from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'
import { expectHidden, secretValues, shownIn } from '../support/secret-values.ts'
import { runShown } from '../support/shown-command.ts'

describe('the samples of the quickstart run on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
  })
  after(async () => {
    await space.close()
    cluster.close()
  })
  const kubectl = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cluster.kubectl(['-n', space.namespace, ...args])
    assert.equal(code, 0, stderr)
    return stdout
  }

  const sample = (name: string): string =>
    readFileSync(`${repository}/charts/samples/${name}.yaml`, 'utf8')
  const apply = async (manifest: string): Promise<void> => {
    const args = ['-n', space.namespace, 'apply', '-f', '-']
    const { code, stderr } = await cluster.kubectl(args, manifest)
    assert.equal(code, 0, stderr)
  }

  test('the operator may get, create and patch Secrets, and nothing else', async () => {
    const can = canAccount(cluster, space.namespace, 'operator')
    const verbs = ['get', 'create', 'patch', 'list', 'watch', 'delete', 'update']
    const answers = verbs.map((verb) => can(verb, 'secrets', '--namespace', space.namespace))
    assert.deepEqual(await Promise.all(answers), [true, true, true, false, false, false, false])
  })

  test('resources applied in the wrong order become Ready, each replica with its own peer ID', async () => {
    const [generator = '', host = ''] = sample('devnet').split('\n---\n')
    await apply(host)
    await here.reason('Host', 'devnet', 'PeersConnected', 'GeneratorMissing')
    await apply(generator)
    const held = await here.reason('Generator', 'devnet', 'Ready', 'WaitingForUpstream')
    assert.match(held.message, /Service .*\/anvil of the execution node does not exist/)
    await apply(sample('anvil').replace(/image: \S+/, `image: ${clusterImage('anvil')}`))
    const both = ['generator/devnet', 'host/devnet']
    await kubectl('wait', '--for=condition=Ready', '--timeout=180s', ...both)

    await eventually(async () => {
      const { nodes: hosts = [] } = await here.status('Host', 'devnet')
      const { nodes: generators = [] } = await here.status('Generator', 'devnet')
      const ids = [...hosts, ...generators].map(({ peerID }) => peerID)
      assert.equal(new Set(ids).size, 3)
      assert.ok(ids.every((id) => id?.startsWith('12D3KooW')))
    })
  })

  test('the Host learns its peer and the schema, and answers blocks of the chain', async () => {
    await here.reason('Host', 'devnet', 'SchemaInSync', 'Matched')
    await here.reason('Host', 'devnet', 'PeersConnected', 'Connected')
    await here.reason('Generator', 'devnet', 'UpstreamReachable', 'WebSocket')
    assert.deepEqual(
      await here.notes('PodsReplaced'),
      [],
      'its pods began with the key to the schema',
    )
    const path = `/api/v1/namespaces/${space.namespace}/services/http:devnet-host:9181/proxy/api/v0/graphql`
    await eventually(async () => {
      const body = { query: '{ Block(limit: 1) { number hash } }' }
      const answer = await expectStatus(cluster.request('POST', path, { body }), 200)
      const { data } = answer.body as { data?: { Block?: { number: number }[] } }
      assert.equal(typeof data?.Block?.[0]?.number, 'number')
    })
  })

  for (const page of ['docs/kubernetes/quickstart.md', 'docs/kubernetes/operations.md']) {
    test(`the commands of ${page} about the samples show them`, async () => {
      const blocks = blocksOf(page).filter(({ marker = '' }) =>
        marker.includes('test/e2e/cluster/operator/reconcile.test.ts'),
      )
      // The samples are there, with the images that this cluster has.
      const commands = blocks
        .flatMap(({ text }) => commandsOf(page, text))
        .filter((command) => !command.startsWith('kubectl apply '))
      assert.ok(commands.length > 2)
      for (const command of commands) {
        const shown = await runShown(command.replace('=Mainnet', '=Devnet'), space.namespace)
        assert.notEqual(shown, '', command)
        if (command.includes('/graphql?'))
          assert.match(shown, /^\{"data":\{"Block":\[\{"number":\d/)
      }
    })
  }

  test("the peer-to-peer Service serves /health without metrics; the pod's own 8080 has both", async () => {
    const { nodes = [] } = await here.status('Host', 'devnet')
    await here.patch('Host', 'devnet', { spec: { services: { p2p: { type: 'ClusterIP' } } } })
    const core = `/api/v1/namespaces/${space.namespace}`
    for (const { ordinal, peerID } of nodes) {
      const outside = `${core}/services/http:devnet-host-p2p-${ordinal}:8080/proxy`
      await eventually(async () => {
        const { body } = await expectStatus(cluster.request('GET', `${outside}/health`), 200)
        const { p2p } = body as { p2p?: { self?: { id: string } } }
        assert.equal(p2p?.self?.id, peerID)
      })
      await expectStatus(cluster.request('GET', `${outside}/metrics`), 404)
      const inside = `${core}/pods/http:devnet-host-${ordinal}:8080/proxy`
      assert.match(await kubectl('get', '--raw', `${inside}/metrics`), /"blocks_received":\d/)
      await expectStatus(cluster.request('GET', `${inside}/health`), 200)
    }
  })

  test('addresses that the spec gives the replicas are published to peers, each its own', async () => {
    const announce = ['/ip4/203.0.113.7/tcp/9171', '/ip4/203.0.113.8/tcp/9171']
    const give = async (given: readonly string[][] | null): Promise<unknown> =>
      await here.patch('Host', 'devnet', { spec: { services: { p2p: { announce: given } } } })
    await give(announce.map((address) => [address]))
    await here.reason('Host', 'devnet', 'AddressPublished', 'Manual')
    await eventually(async () => {
      const { nodes = [] } = await here.status('Host', 'devnet')
      assert.deepEqual(
        nodes.map(({ addresses = [], peerID }) => addresses[0]?.replace(`/p2p/${peerID}`, '')),
        announce,
      )
    })
    for (const [ordinal, address] of announce.entries()) {
      const path = `/api/v1/namespaces/${space.namespace}/pods/http:devnet-host-${ordinal}:8080/proxy/health`
      await eventually(async () => {
        const { body } = await expectStatus(cluster.request('GET', path), 200)
        const { p2p } = body as { p2p?: { self?: { addresses: readonly string[] } } }
        assert.equal(p2p?.self?.addresses[0], address)
      })
    }
    await give(null)
    await here.reason('Host', 'devnet', 'AddressPublished', 'InCluster')
  })

  test('a roll-out is held after the first replica, as Ready reports, and goes on when it may', async () => {
    const uids = async (): Promise<(string | undefined)[]> => {
      const pods = ['devnet-host-0', 'devnet-host-1'].map((name) => here.find('Pod', name))
      return (await Promise.all(pods)).map((pod) => pod?.metadata.uid)
    }
    const before = await uids()
    const podTemplate = { metadata: { annotations: { 'example.org/tried': 'yes' } } }
    await here.patch('Host', 'devnet', { spec: { updatePartition: 1, podTemplate } })
    await eventually(async () => {
      const { reason, message } = (await here.condition('Host', 'devnet', 'Ready')) ?? {}
      assert.equal(reason, 'AllReady')
      assert.match(message ?? '', /, 1 of them with the template from before, as spec.update/)
    }, 120_000)
    const [first, second] = await uids()
    assert.equal(first, before[0])
    assert.notEqual(second, before[1])
    await here.patch('Host', 'devnet', { spec: { updatePartition: 0 } })
    await eventually(async () => {
      const { message } = (await here.condition('Host', 'devnet', 'Ready')) ?? {}
      assert.equal(message, '2 of 2 pods are ready.')
      assert.notEqual((await uids())[0], before[0])
    }, 120_000)
    await eventually(async () => {
      assert.deepEqual(
        (await here.notes('PodsReplaced')).filter((note) => note.includes('updatePartition')),
        [
          'Pods that have the template from before are replaced, since spec.updatePartition is 0 now, and was 1.',
        ],
      )
    })
  })

  test('pods run where only restricted ones may, as 1001, with the identity in place', async () => {
    for (const pod of await here.list('Pod')) {
      if (pod.metadata.name.startsWith('anvil-')) continue
      const ask = '[process.getuid(), process.getgid(), process.getgroups().includes(1001)].join()'
      assert.equal(
        await kubectl('exec', pod.metadata.name, '--', 'node', '-p', ask),
        '1001,1001,true\n',
      )
    }
    assert.equal(
      (await here.condition('Host', 'devnet', 'IdentityReady'))?.reason,
      'KeyringGenerated',
    )
    const { nodes = [] } = await here.status('Host', 'devnet')
    for (const { ordinal, keyringFingerprint } of nodes) {
      const claim = await here.find('PersistentVolumeClaim', `keys-devnet-host-${ordinal}`)
      const mark = claim?.metadata.annotations?.['viewmesh.io/keyring-fingerprint']
      assert.ok(mark)
      assert.equal(mark, keyringFingerprint)
    }
  })

  test('kubectl get shows chain, head, lag, peers, pods, signers, ready, reason and upstream', async () => {
    const [heads = ''] = (await kubectl('get', 'hosts')).split('\n')
    const columns = heads.trim().split(/\s+/)
    assert.deepEqual(columns, [
      'NAME',
      'CHAIN',
      'NETWORK',
      'HEAD',
      'LAG',
      'PEERS',
      'PODS',
      'SIGNERS',
      'READY',
      'REASON',
      'AGE',
    ])
    // Figures are written once a minute.
    await eventually(async () => {
      const [, row = ''] = (await kubectl('get', 'vmh')).split('\n')
      assert.match(row, /^devnet +Local +Devnet +\d+ +\d+ +\d+ +2\/2 +True +True +AllReady /)
    })
    const [names = '', values = ''] = (await kubectl('get', 'vmg')).split('\n')
    assert.match(names, / PEERS +UPSTREAM +READY +REASON +AGE/)
    assert.match(values, /^devnet +Local +Devnet +\d+ +\d+ +[12] +WebSocket +True +AllReady /)
  })

  test('a restarted operator writes nothing to objects that need nothing', async () => {
    const versions = async (): Promise<string[]> => {
      const all = await Promise.all(
        ([...madeKinds, 'Pod'] as const).map(async (kind) =>
          (await here.list(kind)).map(({ metadata }) => {
            const { name, uid, generation, labels, annotations, resourceVersion } = metadata
            // Of these Kubernetes writes the status, which a version is of as well.
            return ['Pod', 'PodDisruptionBudget', 'StatefulSet'].includes(kind)
              ? JSON.stringify([kind, name, uid, generation, labels, annotations])
              : JSON.stringify([kind, name, resourceVersion])
          }),
        ),
      )
      return all.flat()
    }
    const before = await versions()
    const program = await space.start()
    await here.patch('Host', 'devnet', {
      metadata: { annotations: { 'viewmesh.io/reconcile-at': 'now' } },
    })
    await eventually(async () => {
      assert.equal((await here.status('Host', 'devnet')).lastHandledReconcileAt, 'now')
    })
    assert.deepEqual(await versions(), before)
    assert.ok(!program.stdout().includes('object written'))
  })

  test('another start for a store with blocks is said to have no effect until it is put back', async () => {
    await here.patch('Generator', 'devnet', { spec: { start: { height: 1 } } })
    const { message } = await here.reason('Generator', 'devnet', 'StartIgnored', 'StoreHasBlocks')
    assert.match(message, /^The start is height 1 now, which has no effect: /)
    await here.patch('Generator', 'devnet', { spec: { start: { height: 0 } } })
    await eventually(async () => {
      assert.equal(await here.condition('Generator', 'devnet', 'StartIgnored'), null)
    })
  })

  test('a suspended Generator is named by its Hosts, and goes on as the same signer', async () => {
    const nodeOf = async (): Promise<unknown> => {
      const [{ peerID, identity } = {}] = (await here.status('Generator', 'devnet')).nodes ?? []
      return { peerID, identity }
    }
    const before = await nodeOf()
    const uids = async (): Promise<string[]> =>
      (await here.list('PersistentVolumeClaim')).map(({ metadata }) => metadata.uid)
    const claims = await uids()
    await here.patch('Generator', 'devnet', { spec: { suspend: true } })
    await here.reason('Generator', 'devnet', 'Ready', 'Suspended')
    await here.reason('Generator', 'devnet', 'Suspended', 'PodsGone')
    assert.equal(await here.find('Pod', 'devnet-generator-0'), null)
    await eventually(async () => {
      const alone = await askedReason(here, 'Host', 'devnet', ['PeersConnected', 'NotConnected'])
      assert.match(alone.message, /, and suspended: Generator \S+\/devnet \(Suspended\)/)
    })
    await here.patch('Generator', 'devnet', { spec: { suspend: false } })
    await here.reason('Generator', 'devnet', 'Ready', 'AllReady')
    await askedReason(here, 'Host', 'devnet', ['PeersConnected', 'Connected'])
    assert.deepEqual([await nodeOf(), await uids()], [before, claims])
  })

  test('nothing that is secret is in logs, statuses, ConfigMaps or Events', async () => {
    for (const kind of ['Generator', 'Host'] as const) {
      await here.reason(kind, 'devnet', 'Ready', 'AllReady')
    }
    expectHidden(await secretValues(cluster, space.namespace), {
      ...(await shownIn(cluster, space.namespace)),
      'the operator’s log': space.output(),
      'Generators and Hosts': await kubectl('get', 'viewmesh', '-o', 'json'),
    })
  })
})
