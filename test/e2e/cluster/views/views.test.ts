import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { ViewStatus } from '../../../../operator/api/view-status.ts'
import { buildLens, op } from '../../../lens/support/lens.ts'
import { repository } from '../../../support/repository.ts'
import { lensDefinition, lensMap, plainDefinition } from '../../../support/resources/view-cases.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { clusterImage } from '../support/cluster-image.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import { eventually, hostOf, type Namespaced, parked } from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

/** A row for each block. */
const heights = { query: 'Block { number }', sdl: 'type Height { number: String }' }

interface Answer {
  readonly views?: readonly object[]
  readonly data?: Readonly<Record<string, readonly object[]>>
}

describe('Views, on a real cluster', () => {
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

  const keysOf = async (name: string): Promise<readonly string[]> => {
    const found = await here.find('ConfigMap', name)
    return Object.keys((found as { binaryData?: object } | null)?.binaryData ?? {}).toSorted()
  }
  /** What the Host of the samples answers through its Service. */
  const asked = async (route: string): Promise<Answer> => {
    const path = `/api/v1/namespaces/${space.namespace}/services/devnet-host:9181/proxy/api/v0/${route}`
    const { code, stdout, stderr } = await cluster.kubectl(['get', '--raw', path])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }

  test('Views come to a Host and go from it, each without touching the others or a pod', async () => {
    await here.write({ kind: 'View', name: 'plain', spec: { definition: plainDefinition } })
    await here.write({ kind: 'View', name: 'lensed', spec: { definition: lensDefinition } })
    await here.write(hostOf('reader', parked))
    await here.reason('View', 'lensed', 'Validated', 'LensMissing')
    await here.reason('View', 'plain', 'Served', 'Pending')
    const [plain = ''] = await eventually(async () => {
      const found = await keysOf('reader-host-views-0')
      assert.equal(found.length, 1)
      return found
    })
    const set = await eventually(async () => {
      const found = await here.find('StatefulSet', 'reader-host')
      assert.ok(found)
      return found
    })
    await cluster.apply(here.path('ConfigMap', 'lenses'), {
      apiVersion: 'v1',
      ...lensMap(space.namespace),
    })
    await here.reason('View', 'lensed', 'Validated', 'Valid')
    await eventually(async () => assert.equal((await keysOf('reader-host-views-0')).length, 2))
    await here.delete('View', 'plain')
    await eventually(async () => {
      const left = await keysOf('reader-host-views-0')
      assert.equal(left.length, 1)
      assert.equal(left.includes(plain), false)
    })
    await eventually(async () => assert.deepEqual(await keysOf('plain-view'), []))
    await here.delete('View', 'lensed')
    await eventually(async () => assert.deepEqual(await keysOf('reader-host-views-0'), []))
    const after = await here.find('StatefulSet', 'reader-host')
    assert.equal(after?.metadata.generation, set.metadata.generation)
    await here.delete('Host', 'reader')
  })

  test('samples in the wrong order come to rows at every replica, also of one that is added', async () => {
    const apply = async (name: string): Promise<void> => {
      const text = readFileSync(`${repository}/charts/samples/${name}.yaml`, 'utf8')
      const manifest = text.replace(/image: \S+/, `image: ${clusterImage('anvil')}`)
      const args = ['-n', space.namespace, 'apply', '-f', '-']
      const { code, stderr } = await cluster.kubectl(args, manifest)
      assert.equal(code, 0, stderr)
    }
    for (const name of ['view', 'devnet', 'anvil']) await apply(name)
    await here.reason('View', 'payments', 'Ready', 'ViewServed')
    await here.patch('Host', 'devnet', { spec: { replicas: 3 } })
    const { state, hosts } = await eventually(async () => {
      const status = (await here.status('View', 'payments')) as ViewStatus
      assert.equal(status.served, '3/3')
      assert.ok((status.lastBlock ?? 0) > 0)
      return status
    })
    assert.equal(state, 'live')
    assert.deepEqual(
      hosts?.map(({ name, served }) => [name, served]),
      [['devnet', '3/3']],
    )
    await here.delete('View', 'payments')
    await eventually(async () => assert.deepEqual((await asked('views')).views, []))
  })

  test('once a View is Ready its rows are at the Service of the Host, and go with the View', async () => {
    await here.write({ kind: 'View', name: 'heights', spec: { definition: heights } })
    await here.reason('View', 'heights', 'Ready', 'ViewServed')
    const rows = `graphql?query=${encodeURIComponent('{ Height(limit: 1) { number } }')}`
    await eventually(async () => {
      const { data } = await asked(rows)
      assert.equal(data?.['Height']?.length, 1)
    }, 10_000)
    await here.delete('View', 'heights')
    await eventually(async () => {
      assert.deepEqual((await asked('views')).views, [])
      assert.equal((await asked(rows)).data?.['Height'], undefined)
    })
  })

  test('a lens that loops is in the status with its reason, while blocks and other Views go on', async () => {
    const wasm = buildLens({ transform: [...op.forever(), ...op.const(0)] })
    const sha256 = createHash('sha256').update(wasm).digest('hex')
    await cluster.apply(here.path('ConfigMap', 'lenses'), {
      apiVersion: 'v1',
      ...lensMap(space.namespace, wasm),
    })
    const lens = {
      label: 'loop',
      wasm: { configMapRef: { name: 'lenses', key: 'pass.wasm' }, sha256 },
    }
    await here.write({ kind: 'View', name: 'heights', spec: { definition: heights } })
    const looping = { ...heights, sdl: 'type Never { number: String }', lenses: [lens] }
    await here.write({ kind: 'View', name: 'looping', spec: { definition: looping } })
    const { message } = await here.reason('View', 'looping', 'Served', 'Failing')
    assert.match(message, /Host devnet: .*processor time/)
    const lastBlock = async (): Promise<number> =>
      ((await here.status('View', 'heights')) as ViewStatus).lastBlock ?? 0
    await here.reason('View', 'heights', 'Ready', 'ViewServed')
    const before = await lastBlock()
    await eventually(async () => assert.ok((await lastBlock()) > before))
  })
})
