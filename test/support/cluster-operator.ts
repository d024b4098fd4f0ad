/**
 * The operator as a process beside the cluster, with a ServiceAccount that has exactly the rights of
 * the chart's Role, in a namespace of its own that takes restricted pods only.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { type ChildProgram, startChild } from './child-program.ts'
import { type Cluster, expectStatus } from './cluster.ts'
import { repository } from './repository.ts'

/** A rule of a Role. */
export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

export interface OperatorSpace {
  readonly namespace: string
  /** Starts an operator; one that was started before is stopped first. */
  start(settings?: OperatorStart): Promise<ChildProgram>
  /** Ends it in order, or at once. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Everything that all operators started here have written. */
  output(): string
  /** Gives the ServiceAccount other rights. */
  grant(rules: readonly Rule[]): Promise<void>
  /** Stops the operator and takes the namespace away. */
  close(): Promise<void>
}

export interface OperatorStart {
  /** More environment, for instance OPERATOR_TEST_DIE_AT. */
  readonly env?: Readonly<Record<string, string>>
  /** Other rights than the chart's. */
  readonly expectDeath?: boolean
}

export const images = {
  generator: 'localhost/viewmesh-generator:dev',
  host: 'localhost/viewmesh-host:dev',
  anvil: 'localhost/viewmesh-anvil:dev',
} as const

const account = 'operator'
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces'

/** The rules that the chart gives the operator in a namespace. */
export function chartRules(): Rule[] {
  return ['rules', 'election-rules'].flatMap((name) =>
    parse(readFileSync(`${repository}/charts/operator/files/${name}.yaml`, 'utf8')),
  )
}

/** Makes the namespace and the account; the operator is not started yet. */
export async function openOperatorSpace(cluster: Cluster): Promise<OperatorSpace> {
  const namespace = await cluster.createNamespace({
    'pod-security.kubernetes.io/enforce': 'restricted',
  })
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-operator-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const started: ChildProgram[] = []
  let running: ChildProgram | null = null

  const grant = async (rules: readonly Rule[]): Promise<void> => {
    await cluster.apply(`${rbac}/${namespace}/roles/${account}`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: account, namespace },
      rules,
    })
  }
  const stop = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> => {
    if (running === null) return
    const ended = running.ended()
    running.process.kill(signal)
    await ended
    running = null
  }
  await makeAccount(cluster, namespace)
  await grant(chartRules())
  writeFileSync(kubeconfig, await kubeconfigOf(cluster, namespace), { mode: 0o600 })

  return {
    namespace,
    grant,
    stop,
    async start({ env = {}, expectDeath = false } = {}) {
      await stop()
      const program = startChild('operator/main.ts', {
        env: { ...settingsOf(namespace, kubeconfig), ...env },
      })
      started.push(program)
      running = expectDeath ? null : program
      if (!expectDeath) await program.says('controllers work')
      return program
    },
    output: () => started.map((program) => program.stdout() + program.stderr()).join(''),
    async close() {
      await stop()
      await cluster.deleteNamespace(namespace)
      rmSync(folder, { recursive: true })
    },
  }
}

function settingsOf(namespace: string, kubeconfig: string): Readonly<Record<string, string>> {
  return {
    KUBECONFIG: kubeconfig,
    WATCH_NAMESPACES: namespace,
    LEASE_NAMESPACE: namespace,
    GENERATOR_IMAGE: images.generator,
    HOST_IMAGE: images.host,
    HEALTH_ADDR: '127.0.0.1:0',
    METRICS_ADDR: '127.0.0.1:0',
    LOG_LEVEL: 'debug',
  }
}

async function makeAccount(cluster: Cluster, namespace: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account } }
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await expectStatus(cluster.request('POST', path, { body }), 201)
  await cluster.apply(`${rbac}/${namespace}/rolebindings/${account}`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: account, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  })
}

/** The kubeconfig of the tests with the account's token in place of its user. */
async function kubeconfigOf(cluster: Cluster, namespace: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { body: answer } = await expectStatus(cluster.request('POST', path, { body }), 201)
  const { token } = answer.status as { readonly token: string }
  const { stdout } = await cluster.kubectl(['config', 'view', '--raw', '--minify', '--flatten'])
  const config = parse(stdout)
  const [context] = config.contexts
  return stringify({
    ...config,
    users: [{ name: account, user: { token } }],
    contexts: [{ ...context, context: { ...context.context, user: account, namespace } }],
  })
}
