/**
 * Operators beside a cluster, several of one namespace at once, each behind a proxy that notes everything it writes.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { type ChildProgram, startChild } from '../../../../support/child-program.ts'
import { type Cluster, openCluster } from '../cluster.ts'
import { diagnoseFailures } from '../cluster-diagnostics.ts'
import { inNamespace, type Namespaced } from '../cluster-resources.ts'
import { type KubernetesProxy, openKubernetesProxy } from './kubernetes-proxy.ts'

/** An operator, and everything it writes. */
export interface Audited {
  readonly program: ChildProgram
  readonly proxy: KubernetesProxy
}

/** All of it belongs to the suite that asked for it, and is there while its tests run. */
interface AuditedOperators {
  readonly cluster: Cluster
  readonly namespace: string
  /** What is in the namespace. */
  readonly here: Namespaced
  /** Starts another operator, with these settings; nothing is waited for. */
  start(env?: Readonly<Record<string, string>>): Promise<Audited>
}

/** Opens a cluster and a namespace for a suite; what it started is killed when its tests are over. */
export function auditedOperators(): AuditedOperators {
  const opened: Audited[] = []
  let cluster: Cluster
  let namespace: string
  let folder: string

  diagnoseFailures(() => ({
    cluster,
    space: { output: () => opened.map(({ program }) => program.stdout()).join('\n') },
  }))
  before(async () => {
    cluster = await openCluster()
    await cluster.installDefinitions()
    namespace = await cluster.createNamespace()
    folder = mkdtempSync(join(tmpdir(), 'viewmesh-audited-'))
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
  return {
    get cluster() {
      return cluster
    },
    get namespace() {
      return namespace
    },
    get here() {
      return inNamespace(cluster, namespace)
    },
    async start(env = {}) {
      const kubeconfig = join(folder, `kubeconfig-${opened.length}`)
      const proxy = await openKubernetesProxy(process.env['KUBECONFIG'] ?? '', kubeconfig)
      const settings = { ...settingsOf(namespace, kubeconfig), ...env }
      const audited = { program: startChild('operator/main.ts', { env: settings }), proxy }
      opened.push(audited)
      return audited
    },
  }
}

function settingsOf(namespace: string, kubeconfig: string): Readonly<Record<string, string>> {
  return {
    KUBECONFIG: kubeconfig,
    WATCH_NAMESPACES: namespace,
    LEASE_NAMESPACE: namespace,
    GENERATOR_IMAGE: 'localhost/viewmesh-generator:none',
    HOST_IMAGE: 'localhost/viewmesh-host:none',
    HEALTH_ADDR: '127.0.0.1:0',
    METRICS_ADDR: '127.0.0.1:0',
  }
}
