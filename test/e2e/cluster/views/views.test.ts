import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
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
  /** What the Host of the samples answers, through its Service or one pod of it. */
  const asked = async (route: string, from = 'services/devnet-host'): Promise<Answer> => {
    const path = `/api/v1/namespaces/${space.namespace}/${from}:9181/proxy/api/v0/${route}`
    const { code, stdout, stderr } = await cluster.kubectl(['get', '--raw', path])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const rows = `graphql?query=${encodeURIComponent('{ Height(limit: 1) { number } }')}`
  const rowsWithinTenSeconds = async (from?: string): Promise<void> => {
    await eventually(async () => {
      const { data } = await asked(rows, from)
      assert.equal(data?.['Height']?.length, 1)
    }, 10_000)
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

  test('samples in the wrong order come to a View that both replicas serve', async () => {
    const apply = async (name: string): Promise<void> => {
      const text = readFileSync(`${repository}/charts/samples/${name}.yaml`, 'utf8')
      const manifest = text.replace(/image: \S+/, `image: ${clusterImage('anvil')}`)
      const args = ['-n', space.namespace, 'apply', '-f', '-']
      const { code, stderr } = await cluster.kubectl(args, manifest)
      assert.equal(code, 0, stderr)
    }
    for (const name of ['view', 'devnet', 'anvil']) await apply(name)
    await here.reason('View', 'payments', 'Ready', 'ViewServed')
    const { served } = (await here.status('View', 'payments')) as ViewStatus
    assert.equal(served, '2/2')
    await here.delete('View', 'payments')
    await eventually(async () => assert.deepEqual((await asked('views')).views, []))
  })

  test('once a View is Ready its rows are at the Service, also of a Host that is scaled', async () => {
    await here.write({ kind: 'View', name: 'heights', spec: { definition: heights } })
    await here.reason('View', 'heights', 'Ready', 'ViewServed')
    await rowsWithinTenSeconds()
    await here.patch('Host', 'devnet', { spec: { replicas: 3 } })
    await eventually(async () => {
      const { served } = (await here.status('View', 'heights')) as ViewStatus
      assert.equal(served, '3/3')
    })
    await rowsWithinTenSeconds()
    for (const ordinal of [0, 1, 2]) await rowsWithinTenSeconds(`pods/devnet-host-${ordinal}`)
    await eventually(async () => {
      const { state, lastBlock, hosts } = (await here.status('View', 'heights')) as ViewStatus
      assert.equal(state, 'live')
      assert.ok((lastBlock ?? 0) > 0)
      assert.deepEqual(
        hosts?.map(({ name, served }) => [name, served]),
        [['devnet', '3/3']],
      )
    })
    await here.delete('View', 'heights')
    await eventually(async () => {
      assert.deepEqual((await asked('views')).views, [])
      assert.equal((await asked(rows)).data?.['Height'], undefined)
    })
  })

  test('a View for which a Host has no room says so, and comes once another one goes', async () => {
    // Two of these lie in one of the eight ConfigMaps.
    const wasm = randomBytes(390_000)
    const sha256 = createHash('sha256').update(wasm).digest('hex')
    await cluster.apply(here.path('ConfigMap', 'lenses'), {
      apiVersion: 'v1',
      ...lensMap(space.namespace, wasm),
    })
    const names = Array.from({ length: 17 }, (_, number) => `large${number}`)
    const configMapRef = { name: 'lenses', key: 'pass.wasm' }
    const lenses = [{ label: 'large', wasm: { configMapRef, sha256 } }]
    for (const name of names) {
      const definition = { ...heights, sdl: `type Of_${name} { number: String }`, lenses }
      await here.write({ kind: 'View', name, spec: { definition } })
    }
    const withReason = async (reason: string): Promise<readonly string[]> => {
      const all = await Promise.all(
        names.map(async (name) => [name, await here.condition('View', name, 'Served')] as const),
      )
      return all.flatMap(([name, served]) => (served?.reason === reason ? [name] : []))
    }
    const [left = ''] = await eventually(async () => {
      const found = await withReason('NoRoom')
      assert.equal(found.length, 1)
      // The others are there, and no modules.
      assert.equal((await withReason('Refused')).length, names.length - 1)
      return found
    })
    const [other = ''] = names.filter((name) => name !== left)
    await here.delete('View', other)
    await here.reason('View', left, 'Served', 'Refused')
    for (const name of names) await here.delete('View', name)
    await eventually(async () => assert.deepEqual((await asked('views')).views, []))
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
