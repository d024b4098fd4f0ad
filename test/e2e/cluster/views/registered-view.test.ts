import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { privateKeyToAddress } from 'viem/accounts'
import type { ViewStatus } from '../../../../operator/api/view-status.ts'
import { plainDefinition } from '../../../support/resources/view-cases.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { clusterImage } from '../support/cluster-image.ts'
import { alone, chartRules, type OperatorSpace } from '../support/cluster-operator.ts'
import { eventually, hostOf, type Namespaced } from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'
import { openReachableRegistry } from './reachable-registry.ts'

const env = { ...alone, TOOLKIT_IMAGE: clusterImage('toolkit') }
const nowhere = { matchLabels: { tier: 'nowhere' } }

describe('Views that Jobs register, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let chain: Awaited<ReturnType<typeof openReachableRegistry>>

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster({ env }))
    chain = await openReachableRegistry(cluster)
    for (const [index, key] of chain.registry.accounts.entries())
      await cluster.apply(here.path('Secret', `signer${index}`), {
        ...{ apiVersion: 'v1', kind: 'Secret' },
        metadata: { name: `signer${index}`, namespace: space.namespace },
        stringData: { key },
      })
  })
  after(async () => {
    await chain.close()
    await space.close()
    cluster.close()
  })

  const write = async (name: string, signer: string, more: object = {}): Promise<void> => {
    const sdl = `type Of_${name} { address: String }`
    const signerSecretRef = { name: signer, key: 'key' }
    const registration = { rpcUrl: chain.rpcUrl, signerSecretRef, ...more }
    const definition = { ...plainDefinition, sdl }
    const spec = { definition, registration, hostSelector: nowhere }
    await here.write({ kind: 'View', name, spec })
  }
  const statusOf = async (name: string): Promise<ViewStatus> =>
    (await here.status('View', name)) as ViewStatus
  /** Transactions of a signer in blocks. */
  const sent = async (index: number): Promise<number> => {
    const key = chain.registry.accounts[index] as `0x${string}`
    const params = [privateKeyToAddress(key), 'latest']
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_getTransactionCount', params }
    const answer = await fetch(chain.registry.rpcUrl, {
      ...{ method: 'POST', body: JSON.stringify(body) },
    })
    return Number(((await answer.json()) as { readonly result: string }).result)
  }

  test('a View is registered by a Job, and found by a Host that it does not select', async () => {
    const { cometUrl: rpcUrl, lcdUrl } = chain
    await here.write(hostOf('follower', { registry: { rpcUrl, lcdUrl } }))
    await write('found', 'signer0')
    await here.reason('View', 'found', 'Registered', 'Registered')
    const { viewID, address, registration } = await statusOf('found')
    assert.ok((registration?.height ?? 0) > 0)
    assert.equal(await sent(0), 1)
    const listed = await fetch(`${chain.registry.lcdUrl}/shinzonetwork/view/v1/views/${address}`)
    assert.equal(listed.status, 200)
    const path = `/api/v1/namespaces/${space.namespace}/pods/follower-host-0:9181/proxy/api/v0/views`
    await eventually(async () => {
      const { code, stdout } = await cluster.kubectl(['get', '--raw', path])
      assert.equal(code, 0)
      const { views } = JSON.parse(stdout) as { views: { id: string; origins: string[] }[] }
      assert.deepEqual(
        views.map(({ id, origins }) => [id, origins]),
        [[viewID, ['registry']]],
      )
    })
    await here.delete('Host', 'follower')
  })

  test('a View that is deleted stays on the chain, and an Event says so', async () => {
    const { address } = await statusOf('found')
    await here.delete('View', 'found')
    await eventually(async () => {
      const notes = await here.notes('ViewRemainsOnChain')
      assert.ok(notes.some((note) => note.includes('stays on the registry chain')))
    })
    const listed = await fetch(`${chain.registry.lcdUrl}/shinzonetwork/view/v1/views/${address}`)
    assert.equal(listed.status, 200)
  })

  test('two Views of one signer that are written at once are both registered, each once', async () => {
    const first = await sent(1)
    await Promise.all(['one', 'two'].map((name) => write(name, 'signer1')))
    for (const name of ['one', 'two']) await here.reason('View', name, 'Registered', 'Registered')
    assert.equal(await sent(1), first + 2)
  })

  test('a signer without a Secret is named, and the View registered once it is there', async () => {
    await write('late', 'absent')
    await here.reason('View', 'late', 'Registered', 'SignerMissing')
    await cluster.apply(here.path('Secret', 'absent'), {
      ...{ apiVersion: 'v1', kind: 'Secret' },
      metadata: { name: 'absent', namespace: space.namespace },
      stringData: { key: chain.registry.accounts[2] },
    })
    await here.patch('View', 'late', {
      metadata: { annotations: { 'viewmesh.io/reconcile-at': '1' } },
    })
    await here.reason('View', 'late', 'Registered', 'Registered')
  })

  test('a quota that leaves no room for a Job stalls the View until it is raised', async () => {
    const path = `/api/v1/namespaces/${space.namespace}/resourcequotas/jobs`
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'jobs' } }
    const jobs = await here.list('Job')
    await cluster.apply(path, {
      ...quota,
      spec: { hard: { 'count/jobs.batch': `${jobs.length}` } },
    })
    await eventually(async () => {
      const { body } = await cluster.request('GET', path)
      const { status } = body as unknown as { readonly status?: { readonly used?: object } }
      assert.ok(Object.keys(status?.used ?? {}).length > 0)
    })
    await write('crowded', 'signer2')
    await here.reason('View', 'crowded', 'Stalled', 'QuotaExceeded')
    await cluster.request('DELETE', path)
    await here.reason('View', 'crowded', 'Registered', 'Registered')
  })

  test('an operator that may make no Jobs says which right it lacks', async () => {
    const rules = chartRules()
    await space.grant(
      rules.map((rule) =>
        rule.resources.includes('jobs') ? { ...rule, verbs: ['list', 'watch'] } : rule,
      ),
    )
    await write('forbidden', 'signer2')
    await here.reason('View', 'forbidden', 'Stalled', 'Forbidden')
    await space.grant(rules)
    await here.reason('View', 'forbidden', 'Registered', 'Registered')
  })

  const moments = [
    'before create Job',
    'after create Job',
    'before create Job 2',
    'after create Job 2',
    'before apply ConfigMap',
    'after apply ConfigMap 2',
    'before apply View/status 2',
    'after apply View/status 3',
  ]
  for (const [index, moment] of moments.entries()) {
    test(`${moment}: the next operator has the chain take the View once`, async () => {
      const name = `killed${index}`
      const before = await sent(0)
      await space.dieAt(moment, async () => await write(name, 'signer0'), env)
      await space.start({ env })
      await here.reason('View', name, 'Registered', 'Registered')
      assert.equal(await sent(0), before + 1)
    })
  }

  test('a Job whose pod is deleted while it sends has the chain take the View once', async () => {
    const before = await sent(0)
    await write('lost', 'signer0')
    await eventually(async () => {
      const pods = (await here.list('Pod')).filter(({ metadata }) =>
        metadata.name.startsWith('lost-register-'),
      )
      assert.ok(pods[0])
      await here.delete('Pod', pods[0].metadata.name, { gracePeriodSeconds: '0' })
    })
    await here.reason('View', 'lost', 'Registered', 'Registered')
    assert.equal(await sent(0), before + 1)
  })

  test('a node that is lost once it has the transaction takes the View once', async () => {
    const before = await sent(0)
    const isLost = chain.loseAnswer('eth_sendRawTransaction')
    await write('cut', 'signer0')
    await isLost
    await here.reason('View', 'cut', 'Registered', 'Registered')
    assert.equal(await sent(0), before + 1)
  })
})
