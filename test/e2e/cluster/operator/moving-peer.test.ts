import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Condition, HostStatus, NodeStatus } from '../../../../operator/api/status.ts'
import { type HealthReport, paths, ports } from '../../../../src/service/contract.ts'
import { commandsOf } from '../../../docs/support/page.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  askedReason,
  eventually,
  generatorOf,
  hostOf,
  type Namespaced,
  type Written,
  writeNode,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'
import { podLife } from '../support/pod-life.ts'
import { runShown } from '../support/shown-command.ts'

const stranger = '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'

const podSelector = { matchLabels: { app: 'node' }, httpPort: 8545, wsPort: 8545 }
const moving = generatorOf('moving', { upstream: { podSelector } })

describe('a Generator that is not who or where its Hosts think, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  /** Of the pods of both Hosts, as they were at first. */
  let lives: string

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
    await writeNode(cluster, space.namespace)
    await here.write(moving)
    await here.reason('Generator', 'moving', 'Ready', 'AllReady')
    await eventually(async () => assert.ok(await peerID()))
    await here.write(staying(false))
    await here.write(hostOf('mistaken', { bootstrapPeers: [addressOf(stranger)] }))
    for (const name of ['staying', 'mistaken']) await here.reason('Host', name, 'Ready', 'AllReady')
    await misleadAboutSchemaKey()
    lives = await hostLives()
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const node = async (): Promise<NodeStatus | undefined> =>
    (await here.status('Generator', 'moving')).nodes?.[0]
  const peerID = async (): Promise<string | undefined> => (await node())?.peerID
  const generatorName = (): string => `${space.namespace}/moving`
  const accepted = async (): Promise<HostStatus['signers']> =>
    (await here.status('Host', 'staying')).signers
  const addressOf = (id: string): string =>
    `/dns4/moving-generator-nodes.${space.namespace}.svc.cluster.local/tcp/${ports.p2p}/p2p/${id}`
  const staying = (paused: boolean): Written =>
    hostOf('staying', { paused, generators: [{ name: 'moving' }] })
  /** While it is paused nobody corrects what the pod reads when it starts. */
  const misleadAboutSchemaKey = async (): Promise<void> => {
    // The peer ID of a replica that is Ready is written to it next, and would wait while the Host is paused.
    await eventually(async () =>
      assert.ok((await here.find('Secret', 'staying-host-connection'))?.data?.['peers']),
    )
    await here.write(staying(true))
    await here.reason('Host', 'staying', 'Paused', 'NothingWaiting')
    const token = Buffer.from('another-key').toString('base64')
    await here.patch('Secret', 'staying-host-schema-keys', { data: { token } })
    const pod = await here.find('Pod', 'staying-host-0')
    await here.delete('Pod', 'staying-host-0')
    await replaced('staying-host-0', pod?.metadata.uid)
  }
  const hostLives = async (): Promise<string> =>
    (await podLife(here, 'staying-host-0')) + (await podLife(here, 'mistaken-host-0'))

  const reported = async (name: string, type: string, reason: string): Promise<Condition> =>
    await askedReason(here, 'Host', name, [type, reason])
  const health = async (): Promise<Partial<HealthReport>> => {
    const pod = `${here.path('Pod', 'staying-host-0')}:${ports.health}/proxy${paths.health}`
    return (await cluster.request('GET', pod)).body as Partial<HealthReport>
  }
  const head = async (): Promise<number> => (await health()).head ?? -1
  const headMoves = async (): Promise<void> => {
    const from = await head()
    await eventually(async () => assert.ok((await head()) > from + 3))
  }
  /** Waits until another pod than this one is Ready. */
  const replaced = async (name: string, uid: string | undefined): Promise<void> => {
    await eventually(async () => {
      const pod = await here.find('Pod', name)
      const { conditions = [] } = (pod?.status ?? {}) as { conditions?: Condition[] }
      assert.notEqual(pod?.metadata.uid ?? uid, uid)
      assert.equal(conditions.find(({ type }) => type === 'Ready')?.status, 'True')
    })
  }

  test('it hears of blocks from the execution node whose pods have the labels it is given', async () => {
    await here.reason('Generator', 'moving', 'UpstreamReachable', 'WebSocket')
  })

  test('a Host accepts the identity of the Generator that it names', async () => {
    await reported('staying', 'SignersAgree', 'Agreed')
    const identity = (await node())?.identity ?? ''
    assert.match(identity, /^0[23][0-9a-f]{64}$/)
    assert.deepEqual(await accepted(), [{ generator: generatorName(), identity }])
    const { data = {} } = (await here.find('ConfigMap', 'staying-host-config')) ?? {}
    assert.equal(data['trusted-signers'], `# ${generatorName()}\n${identity}\n`)
    await eventually(async () => {
      const { signers } = await health()
      assert.deepEqual(
        signers?.map((signer) => [signer.identity, signer.source]),
        [[identity, 'file']],
      )
    })
  })

  test('PeerIDMismatch names both peer IDs, and a correct address needs no restart', async () => {
    const id = await peerID()
    const { status, message } = await reported('mistaken', 'PeersConnected', 'PeerIDMismatch')
    assert.deepEqual(
      [status, message],
      [
        'False',
        `Replica 0: peer id mismatch: expected ${stranger}, but remote key matches ${id}, at ${addressOf(stranger).replace(/.p2p.\w+$/, '')}. If that is the peer you mean, write its ID into spec.bootstrapPeers, else correct the address there.`,
      ],
    )
    const ready = await here.condition('Host', 'mistaken', 'Ready')
    assert.deepEqual([ready?.status, ready?.reason], ['True', 'AllReady'])
    await here.write(hostOf('mistaken', { bootstrapPeers: [addressOf(`${id}`)] }))
    await reported('mistaken', 'PeersConnected', 'Connected')
    assert.equal(await hostLives(), lives)
  })

  test('a schema key that the Generator does not know is Unauthorized, until it is the right one', async () => {
    const { status, message } = await reported('staying', 'SchemaInSync', 'Unauthorized')
    assert.equal(status, 'False')
    assert.match(message, /does not accept the token.*set its annotation viewmesh\.io\/roll-at\.$/)
    assert.doesNotMatch(message, /another-key/)
    await here.write(staying(false))
    await reported('staying', 'SchemaInSync', 'Matched')
    assert.equal(await hostLives(), lives)
  })

  test('a Host finds a Generator at its new pod address without a restart', async () => {
    await reported('staying', 'PeersConnected', 'Connected')
    const [id, pod] = [await peerID(), await here.find('Pod', 'moving-generator-0')]
    await here.delete('Pod', 'moving-generator-0')
    await replaced('moving-generator-0', pod?.metadata.uid)
    await headMoves()
    await reported('staying', 'SchemaInSync', 'Matched')
    assert.equal(await peerID(), id)
    assert.equal(await hostLives(), lives)
  })

  test("a Generator's new identity is reported with the old one until a person acts", async () => {
    const before = await node()
    await here.delete('Generator', 'moving')
    await here.delete('Secret', 'moving-generator-keyring')
    await eventually(async () => assert.equal(await here.find('Pod', 'moving-generator-0'), null))
    for (const claim of ['keys-moving-generator-0', 'data-moving-generator-0']) {
      await here.delete('PersistentVolumeClaim', claim)
      await eventually(async () => {
        assert.equal(await here.find('PersistentVolumeClaim', claim), null)
      })
    }
    await reported('staying', 'PeersConnected', 'GeneratorMissing')
    const kept = [{ generator: generatorName(), identity: `${before?.identity}` }]
    assert.deepEqual(await accepted(), kept, 'who is gone stays accepted')
    await here.write(moving)
    const { peerID: id, identity } = await eventually(async () => {
      const found = await node()
      assert.ok(found?.identity)
      return found
    })
    assert.notEqual(id, before?.peerID)
    assert.notEqual(identity, before?.identity)
    const { message } = await reported('staying', 'SignersAgree', 'SignerChanged')
    assert.match(
      message,
      new RegExp(`says the identity ${identity}; accepted of it is ${before?.identity}\\.`),
    )
    await reported('staying', 'PeersConnected', 'NotConnected')
    assert.deepEqual(await accepted(), kept)

    const [accept = ''] = commandsOf('docs/kubernetes/security.md', 'accept-signers')
    const command = accept.replace('mainnet', 'staying').replace('<identity>', `${identity}`)
    await runShown(command, space.namespace)
    await reported('staying', 'PeersConnected', 'Connected')
    await reported('staying', 'SignersAgree', 'Agreed')
    assert.deepEqual(await accepted(), [{ generator: generatorName(), identity }])
    await headMoves()
    await reported('staying', 'SchemaInSync', 'Matched')
    await reported('mistaken', 'PeersConnected', 'PeerIDMismatch')
    assert.equal(await hostLives(), lives)
  })
})
