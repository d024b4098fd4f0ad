import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { V1LeaseSpec, V1StatefulSetSpec } from '@kubernetes/client-node'
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

type Specified = Partial<V1LeaseSpec & V1StatefulSetSpec>

describe('who of several operators writes, on a real cluster', () => {
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
    folder = mkdtempSync(join(tmpdir(), 'viewmesh-leadership-'))
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

  const start = async (): Promise<Audited> => {
    const kubeconfig = join(folder, `kubeconfig-${opened.length}`)
    const proxy = await openKubernetesProxy(process.env['KUBECONFIG'] ?? '', kubeconfig)
    const program = startChild('operator/main.ts', {
      env: {
        KUBECONFIG: kubeconfig,
        WATCH_NAMESPACES: namespace,
        LEASE_NAMESPACE: namespace,
        GENERATOR_IMAGE: 'localhost/viewmesh-generator:none',
        HOST_IMAGE: 'localhost/viewmesh-host:none',
        HEALTH_ADDR: '127.0.0.1:0',
        METRICS_ADDR: '127.0.0.1:0',
      },
    })
    const audited = { program, proxy }
    opened.push(audited)
    return audited
  }
  const stop = async ({ program }: Audited): Promise<void> => {
    program.process.kill('SIGTERM')
    assert.equal((await program.ended()).code, 0)
    const { holderIdentity } = await specOf('Lease', 'viewmesh-operator')
    assert.equal(holderIdentity, '')
  }
  const specOf = async (kind: 'Lease' | 'StatefulSet', name: string): Promise<Specified> =>
    ((await here.find(kind, name))?.spec ?? {}) as Specified
  const write = async (name: string, replicas: number): Promise<void> =>
    await here.write(hostOf(name, { ...parked, replicas }))
  /** Everything of this Host is as its newest spec says. */
  const settled = async (name: string, replicas: number): Promise<void> =>
    await eventually(async () => {
      const host = await here.find('Host', name)
      const { observedGeneration, nodes = [] } = await here.status('Host', name)
      assert.equal(observedGeneration, host?.metadata.generation)
      assert.equal(nodes.filter(({ keyringFingerprint }) => keyringFingerprint).length, replicas)
      assert.equal((await specOf('StatefulSet', `${name}-host`)).replicas, replicas)
      const keys = (await here.find('Secret', `${name}-host-keyring`))?.data ?? {}
      assert.equal(Object.keys(keys).length, replicas)
    })

  const isLease = ({ path }: ProxiedWrite): boolean => path.includes('/leases')
  const isWork = (written: ProxiedWrite): boolean => !isLease(written)
  const isAccepted = ({ answer }: ProxiedWrite): boolean => answer !== null && answer.status < 300

  test('an operator paused beyond its Lease writes nothing when it continues', async () => {
    const first = await start()
    await first.program.says('controllers work')
    await write('kept', 1)
    await settled('kept', 1)
    const second = await start()
    await second.program.says('health and metrics are served')

    const beginMs = performance.now()
    const amid = first.proxy.wrote(
      ({ path, method, receivedMs }) =>
        receivedMs > beginMs && method === 'POST' && /\/secrets$/.test(path),
    )
    const begin = write('begun', 2)
    await amid
    first.program.process.kill('SIGSTOP')
    await begin
    await write('kept', 2)
    await write('fresh', 1)
    const begun = await second.proxy.wrote(isWork)
    first.program.process.kill('SIGCONT')
    await write('kept', 3)
    const ended = await first.program.ended()
    assert.equal(ended.code, 1)
    assert.match(ended.stdout, /OPERATOR_LEADERSHIP_LOST/)
    assert.match(ended.stdout, /host.* was held back/)

    await Promise.all([settled('kept', 3), settled('begun', 2), settled('fresh', 1)])
    const accepted = first.proxy.writes.filter(isAccepted)
    const late = accepted.filter(({ answer }) => (answer?.atMs ?? 0) > begun.receivedMs)
    assert.deepEqual(late, [])
    assert.ok(accepted.some(isWork))
    assert.ok(second.proxy.writes.filter(isAccepted).length > 0)
    await stop(second)
  })

  test('one goes on where it was when the API server was away for longer than its Lease', async () => {
    const { program, proxy } = await start()
    await program.says('controllers work')
    proxy.cut()
    await program.says('nothing is written until it is')
    await write('after-it', 0)
    proxy.restore()
    await program.says('writing goes on')
    await eventually(async () => {
      assert.equal((await here.status('Host', 'after-it')).observedGeneration, 1)
    })
    await stop({ program, proxy })
  })
})
