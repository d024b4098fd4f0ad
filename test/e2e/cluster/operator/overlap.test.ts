import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type ChildProgram, startChild } from '../../../support/child-program.ts'
import { type Cluster, openCluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import {
  eventually,
  hostOf,
  inNamespace,
  type Namespaced,
  parked,
} from '../support/cluster-resources.ts'
import {
  type KubernetesProxy,
  openKubernetesProxy,
  type ProxiedWrite,
} from '../support/kubernetes-proxy.ts'

/** An operator, and everything it writes. */
interface Audited {
  readonly program: ChildProgram
  readonly proxy: KubernetesProxy
}

describe('two installations that watch one namespace, on a real cluster', () => {
  let cluster: Cluster
  let namespace: string
  let here: Namespaced
  let folder: string
  const opened: Audited[] = []
  const output = (): string => opened.map(({ program }) => program.stdout()).join('\n')

  diagnoseFailures(() => ({ cluster, space: { output } }))
  before(async () => {
    cluster = await openCluster()
    await cluster.installDefinitions()
    namespace = await cluster.createNamespace()
    here = inNamespace(cluster, namespace)
    folder = mkdtempSync(join(tmpdir(), 'viewmesh-overlap-'))
  })
  after(async () => {
    for (const { program, proxy } of opened) {
      program.process.kill('SIGKILL')
      await proxy.close()
    }
    await cluster.deleteNamespace(namespace)
    cluster.close()
    rmSync(folder, { recursive: true })
  })

  /** An operator with a Lease of its own, whose Hosts have another image than those of the other one. */
  const start = async (name: string): Promise<Audited> => {
    const kubeconfig = join(folder, `kubeconfig-${opened.length}`)
    const proxy = await openKubernetesProxy(process.env['KUBECONFIG'] ?? '', kubeconfig)
    const program = startChild('operator/main.ts', {
      env: {
        KUBECONFIG: kubeconfig,
        WATCH_NAMESPACES: namespace,
        LEASE_NAMESPACE: namespace,
        LEASE_NAME: name,
        GENERATOR_IMAGE: `localhost/viewmesh-generator:${name}`,
        HOST_IMAGE: `localhost/viewmesh-host:${name}`,
        HEALTH_ADDR: '127.0.0.1:0',
        METRICS_ADDR: '127.0.0.1:0',
      },
    })
    const audited = { program, proxy }
    opened.push(audited)
    await program.says('controllers work')
    return audited
  }
  const isObject = ({ path }: ProxiedWrite): boolean => !/\/(?:leases|events|status)/.test(path)
  const managedBy = async (): Promise<unknown> => (await here.status('Host', 'shared')).managedBy
  const setVersion = async (): Promise<unknown> =>
    (await here.find('StatefulSet', 'shared-host'))?.metadata.resourceVersion

  test('one goes on, the other writes no object, and both say which is which', async () => {
    const first = await start('first')
    await here.write(hostOf('shared', parked))
    await here.reason('Host', 'shared', 'Ready', 'Unschedulable')
    assert.equal(await managedBy(), `${namespace}/first`)
    const version = await setVersion()

    const second = await start('second')
    const { message } = await here.reason('Host', 'shared', 'Contested', 'OperatorsOverlap')
    assert.match(message, new RegExp(`Operator ${namespace}/second manages it as well`))
    await eventually(async () => {
      const [note = ''] = await here.notes('LeftToOperator')
      assert.match(note, new RegExp(`${namespace}/second leaves it to operator ${namespace}/first`))
    })
    assert.equal(await managedBy(), `${namespace}/first`)
    const { status } = await cluster.request('DELETE', here.path('Service', 'shared-host'))
    assert.equal(status, 200)
    await eventually(async () => assert.ok(await here.find('Service', 'shared-host')))
    assert.deepEqual(second.proxy.writes.filter(isObject), [])
    assert.ok(first.proxy.writes.some(isObject))
    assert.equal(await setVersion(), version)

    for (const { program } of [first, second]) {
      program.process.kill('SIGTERM')
      assert.equal((await program.ended()).code, 0)
    }
  })

  test('the one that is left takes over what the other managed, and nothing is contested', async () => {
    await start('second')
    await eventually(async () => {
      assert.equal(await managedBy(), `${namespace}/second`)
      const { conditions = [] } = await here.status('Host', 'shared')
      assert.deepEqual(
        conditions.filter(({ type }) => type === 'Contested'),
        [],
      )
    })
    await here.reason('Host', 'shared', 'Ready', 'Unschedulable')
    await here.write(hostOf('shared', { ...parked, replicas: 2 }))
    await eventually(async () => {
      const nodes = (await here.status('Host', 'shared')).nodes ?? []
      assert.equal(nodes.length, 2)
    })
  })
})
