import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { NodeStatus } from '../../../../operator/api/status.ts'
import { manifestsIn } from '../../../docs/support/kubernetes-manifests.ts'
import { blocksOf, commandsOf } from '../../../docs/support/page.ts'
import { plainDefinition } from '../../../support/resources/view-cases.ts'
import { type Cluster, expectStatus } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { kubeconfigOf, type OperatorSpace } from '../support/cluster-operator.ts'
import { eventually, generatorOf, hostOf, type Namespaced } from '../support/cluster-resources.ts'
import { type KubectlPlugin, openKubectlPlugin } from '../support/kubectl-plugin.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'
import { secretValues } from '../support/secret-values.ts'

const page = 'docs/kubernetes/plugin.md'
const keyring = 'mainnet-host-keyring'
const keys = 'keys-mainnet-host-0'
const data = 'data-mainnet-host-0'
const pod = 'mainnet-host-0'
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces'

type Identity = Pick<NodeStatus, 'peerID' | 'identity'>

describe('kubectl viewmesh, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let plugin: KubectlPlugin
  /** Of an account that has the Role of the page and no other right. */
  let keeper: string
  let first: Identity

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster({ namespaces: 2 }))
    plugin = openKubectlPlugin()
    keeper = join(plugin.folder, 'keeper.kubeconfig')
    writeFileSync(keeper, await makeKeeper(), { mode: 0o600 })
    await here.write(hostOf('mainnet'))
    first = await identityOf()
  })
  after(async () => {
    plugin.close()
    await space.close()
    cluster.close()
  })

  const makeKeeper = async (): Promise<string> => {
    const { namespace } = space
    const name = 'viewmesh-identities'
    const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
    await expectStatus(cluster.request('POST', accounts, { body }), 201)
    const [shown] = blocksOf(page).filter(({ language }) => language === 'yaml')
    const [role = {}] = manifestsIn(shown?.text ?? '')
    await cluster.apply(`${rbac}/${namespace}/roles/${name}`, { ...role, metadata: { name } })
    await cluster.apply(`${rbac}/${namespace}/rolebindings/${name}`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    })
    return await kubeconfigOf(cluster, namespace, name)
  }
  const identityOf = async (kind: 'Host' | 'Generator' = 'Host'): Promise<Identity> => {
    await here.reason(kind, 'mainnet', 'Ready', 'AllReady')
    return await eventually(async () => {
      const { nodes: [node] = [] } = await here.status(kind, 'mainnet')
      assert.ok(node?.peerID && node.identity && node.keyringFingerprint)
      return { peerID: node.peerID, identity: node.identity }
    })
  }
  const gone = async (
    kind: 'Pod' | 'Secret' | 'PersistentVolumeClaim' | 'StatefulSet',
    name: string,
  ): Promise<void> => {
    await eventually(async () => assert.equal(await here.find(kind, name), null))
  }
  /** What a line writes in the namespace of this suite, where it ends with this code. */
  const run = async (code: 0 | 1 | 2, line: string, kubeconfig?: string): Promise<string> => {
    const named = line.replace(/-n apps\b/, `-n ${space.namespace}`)
    const ended = await plugin.run(named, kubeconfig)
    assert.equal(ended.code, code, `${line}: ${ended.stdout}${ended.stderr}`)
    return ended.stdout + ended.stderr
  }
  const helpers = async (): Promise<string[]> => {
    const pods = await here.list('Pod')
    return pods.map(({ metadata }) => metadata.name).filter((name) => name !== pod)
  }
  const backupIn = (file: string) =>
    JSON.parse(readFileSync(join(plugin.folder, file), 'utf8')).replicas[0]

  test('status says what holds, and its exit code whether all of it does', async () => {
    const [all = '', one = '', view = '', json = ''] = commandsOf(page, 'viewmesh status')
    assert.match(await run(0, all), /host\/mainnet +True +AllReady/)
    const shown = await run(0, one)
    assert.match(shown, new RegExp(`^Host ${space.namespace}/mainnet is ready\n`))
    assert.match(shown, /Replica 0: pod mainnet-host-0 \(Ready/)
    assert.ok(shown.includes(`signs as   ${first.identity}`), shown)
    assert.match(shown, /keys {6,}Bound, \S+, claim keys-mainnet-host-0/)
    const { kind, isReady } = JSON.parse(await run(0, json))
    assert.deepEqual([kind, isReady], ['Host', true])
    const hostSelector = { matchLabels: { tier: 'none' } }
    const spec = { definition: plainDefinition, hostSelector }
    await here.write({ kind: 'View', name: 'payments', spec })
    await here.reason('View', 'payments', 'Served', 'NoHosts')
    assert.match(await run(1, view), /^View \S+\/payments is not ready\n.*NoHosts/s)
    await here.delete('View', 'payments')
    assert.match(
      await run(2, 'kubectl viewmesh status host/none -n apps'),
      /there is no Host none in namespace/,
    )
  })

  test('logs shows the lines of all pods, each with its pod', async () => {
    for (const command of commandsOf(page, 'viewmesh logs')) {
      const lines = (await run(0, command)).trimEnd().split('\n')
      assert.ok(lines.length > 1)
      for (const line of lines) assert.match(line, /^\[mainnet-host-0\] \{/)
    }
    const before = await run(1, 'kubectl viewmesh logs host/mainnet -n apps --previous')
    assert.match(before, /\[mainnet-host-0\] has no such log/)
  })

  test('a backup of a running Host is a file for its owner alone, and never over another', async () => {
    const [backUp = ''] = commandsOf(page, '-f mainnet.json')
    const said = await run(0, backUp, keeper)
    assert.match(said, /mainnet\.json holds the identity of Host .*\/mainnet/)
    assert.ok(said.includes(`signs as ${first.identity}, peer ID ${first.peerID}`), said)
    assert.match(said, /It is a SECRET/)
    const path = join(plugin.folder, 'mainnet.json')
    assert.equal(statSync(path).mode & 0o777, 0o600)
    const text = readFileSync(path, 'utf8')
    assert.match(await run(2, backUp), /it exists already/)
    assert.equal(readFileSync(path, 'utf8'), text)
    assert.deepEqual(await helpers(), [])
  })

  test('an identity that runs is not restored a second time, into another namespace', async () => {
    const [, other = ''] = space.namespaces
    const said = await run(2, `kubectl viewmesh restore mainnet.json -n ${other}`)
    assert.match(said, /\/mainnet has this identity: delete it first/)
  })

  test('a report has objects, Events and logs, and no value of any Secret', async () => {
    const [report = '', pack = ''] = commandsOf(page, 'viewmesh report')
    const said = await run(1, `${report} --operator-namespace ${space.namespace}`)
    assert.match(said, /^report\nnot in it: an operator: none was found in namespace /)
    await run(0, pack)
    const folder = join(plugin.folder, 'report')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    for (const file of ['hosts.yaml', 'pods.yaml', `logs/${pod}.host.log`]) {
      assert.ok(files.includes(join(space.namespace, file)), files.join())
    }
    const texts = files
      .filter((file) => statSync(join(folder, file)).isFile())
      .map((file) => readFileSync(join(folder, file), 'utf8'))
    assert.ok(texts.some((text) => text.includes('AllReady')))
    const values = await secretValues(cluster, space.namespace)
    assert.ok(values.length > 1)
    assert.equal(values.filter((value) => texts.some((text) => text.includes(value))).length, 0)
  })

  test('all that there was comes back from the file, in an empty namespace, as who it was', async () => {
    await here.delete('Host', 'mainnet')
    await here.delete('Secret', keyring)
    await gone('Pod', pod)
    for (const name of [keys, data]) await here.delete('PersistentVolumeClaim', name)
    for (const name of [keys, data]) await gone('PersistentVolumeClaim', name)
    await gone('Secret', keyring)
    const [restore = ''] = commandsOf(page, 'viewmesh restore')
    const said = await run(0, restore, keeper)
    assert.match(said, /Whether this identity runs in another namespace could not be seen/)
    assert.match(said, /Now create Host mainnet in namespace/)
    assert.match(said, /Make sure that it runs nowhere else/)
    await here.write(hostOf('mainnet'))
    assert.deepEqual(await identityOf(), first)
    assert.deepEqual(await helpers(), [])
  })

  test('a restore where all of it is there changes nothing, and says so', async () => {
    const before = (await here.find('Pod', pod))?.metadata.uid
    const said = await run(0, 'kubectl viewmesh restore mainnet.json -n apps')
    assert.match(said, /^claim keys-mainnet-host-0: has the key file of replica 0\n/)
    assert.doesNotMatch(said, /written/)
    assert.equal((await here.find('Pod', pod))?.metadata.uid, before)
    assert.deepEqual(await identityOf(), first)
  })

  test('a lost keys claim of a stalled Host is restored, and the Host goes on by itself', async () => {
    const restore = 'kubectl viewmesh restore mainnet.json -n apps'
    await here.delete('PersistentVolumeClaim', keys)
    await here.reason('Host', 'mainnet', 'Stalled', 'KeysClaimMissing')
    const stalled = /! Stalled \(KeysClaimMissing\): Claim keys-mainnet-host-0 /
    assert.match(await run(1, 'kubectl viewmesh status -n apps'), stalled)
    assert.match(await run(2, restore), /claim keys-mainnet-host-0 is being deleted/)
    await gone('StatefulSet', 'mainnet-host')
    await here.delete('Pod', pod)
    await gone('PersistentVolumeClaim', keys)
    await run(0, restore, keeper)
    assert.deepEqual(await identityOf(), first)
  })

  test('a backup is taken without a pod too, by a pod that is gone afterwards', async () => {
    await here.patch('Host', 'mainnet', { spec: { replicas: 0 } })
    await gone('Pod', pod)
    await run(0, 'kubectl viewmesh backup host/mainnet -n apps -f second.json', keeper)
    await eventually(async () => assert.deepEqual(await helpers(), []))
    const [before, now] = [backupIn('mainnet.json'), backupIn('second.json')]
    assert.deepEqual({ ...now, keysClaimUID: '' }, { ...before, keysClaimUID: '' })
  })

  test('unused claims are deleted, and one with an identity only with its own backup', async () => {
    const [list = '', deleteUnused = '', deleteKeys = ''] = commandsOf(page, 'claims delete')
    assert.match(await run(0, list), /keys-mainnet-host-0 +host\/mainnet +unused +[0-9a-f]{16} /)
    assert.match(await run(0, deleteUnused), /claim data-mainnet-host-0 is deleted/)
    await gone('PersistentVolumeClaim', data)
    assert.ok(await here.find('PersistentVolumeClaim', keys))
    // The claim was restored since that backup, so it is another one.
    assert.match(
      await run(2, deleteKeys),
      /claim keys-mainnet-host-0 is kept: it holds an identity/,
    )
    await run(0, deleteKeys.replace('mainnet.json', 'second.json'))
    await gone('PersistentVolumeClaim', keys)
  })

  test('a claim that a replica uses is never deleted, whatever else is said', async () => {
    await run(0, 'kubectl viewmesh restore second.json -n apps')
    await here.patch('Host', 'mainnet', { spec: { replicas: 1 } })
    assert.deepEqual(await identityOf(), first)
    const insist = `kubectl viewmesh claims delete ${keys} -n apps --yes-delete-identity ${keys}`
    assert.match(
      await run(2, insist),
      /claim keys-mainnet-host-0 is kept: pod mainnet-host-0 uses it/,
    )
    assert.ok(await here.find('PersistentVolumeClaim', keys))
  })

  test('a Generator signs as before after all of it was lost and restored', async () => {
    const upstream = { url: { http: ['http://node:8545'] } }
    await here.write(generatorOf('mainnet', { upstream }))
    const before = await identityOf('Generator')
    await run(0, 'kubectl viewmesh backup generator/mainnet -n apps -f generator.json', keeper)
    await here.delete('Generator', 'mainnet')
    await here.delete('Secret', 'mainnet-generator-keyring')
    await gone('Pod', 'mainnet-generator-0')
    for (const name of ['keys-mainnet-generator-0', 'data-mainnet-generator-0']) {
      await here.delete('PersistentVolumeClaim', name)
      await gone('PersistentVolumeClaim', name)
    }
    await gone('Secret', 'mainnet-generator-keyring')
    await run(0, 'kubectl viewmesh restore generator.json -n apps', keeper)
    await here.write(generatorOf('mainnet', { upstream }))
    assert.deepEqual(await identityOf('Generator'), before)
  })
})
