/**
 * The operator as a process beside the cluster, with a ServiceAccount that has exactly the rights of
 * the chart's Role, in a namespace of its own that takes restricted pods only.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { type ChildProgram, startChild } from '../../../support/child-program.ts'
import { repository } from '../../../support/repository.ts'
import { type Cluster, expectStatus, restrictedLevel } from './cluster.ts'
import { clusterImage } from './cluster-image.ts'
import { eventually } from './cluster-resources.ts'

/** A rule of a Role. */
interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

export interface OperatorSpace {
  /** Where the account and the Lease are. */
  readonly namespace: string
  /** All watched namespaces, that one first. */
  readonly namespaces: readonly string[]
  /** File with which the account signs in; its folder goes when this is closed. */
  readonly kubeconfig: string
  /** Starts an operator; one that was started before is stopped first. */
  start(settings?: OperatorStart): Promise<ChildProgram>
  /**
   * Runs an operator until it is killed at a moment of `die-at.ts`; `write` gives it what to do. By default it
   * is one that works alone.
   */
  dieAt(
    moment: string,
    write?: () => Promise<void>,
    env?: Readonly<Record<string, string>>,
  ): Promise<void>
  /** Ends it in order, or at once. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Everything that all operators started here have written. */
  output(): string
  /**
   * Gives the ServiceAccount other rights in these namespaces, by default in all, and waits until the API
   * server goes by them.
   */
  grant(rules: readonly Rule[], places?: readonly string[]): Promise<void>
  /** Stops the operator and takes the namespace away. */
  close(): Promise<void>
}

export interface OperatorStart {
  readonly env?: Readonly<Record<string, string>>
  /** A moment of `die-at.ts` at which it is killed. */
  readonly dieAt?: string
  /** The operator is going to end by itself; nothing is waited for. */
  readonly expectDeath?: boolean
}

export const images: Readonly<Record<'generator' | 'host', string>> = {
  generator: clusterImage('generator'),
  host: clusterImage('host'),
}

/** Environment of an operator that needs no Lease. */
export const alone: Readonly<Record<string, string>> = { LEADER_ELECT: 'false' }

/** Name of the ServiceAccount. */
export const account = 'operator'
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces'

/** The rules that the chart gives the operator: of these files, or all that it has in a namespace. */
export function chartRules(...files: readonly string[]): Rule[] {
  const names = files.length === 0 ? ['rules', 'election-rules'] : files
  return names.flatMap((name) =>
    parse(readFileSync(`${repository}/charts/operator/files/${name}.yaml`, 'utf8')),
  )
}

/** Makes so many namespaces and the account; the operator is not started yet. */
export async function openOperatorSpace(cluster: Cluster, count = 1): Promise<OperatorSpace> {
  const namespaces = await Promise.all(
    Array.from({ length: count }, () => cluster.createNamespace(restrictedLevel)),
  )
  const [namespace = ''] = namespaces
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-operator-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const started: ChildProgram[] = []
  let running: ChildProgram | null = null

  let grants = 0
  const grant: OperatorSpace['grant'] = async (rules, places = namespaces) => {
    grants += 1
    const mark = markRule(grants)
    for (const place of places) {
      await cluster.apply(`${rbac}/${place}/roles/${account}`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: account, namespace: place },
        rules: [...rules, mark],
      })
    }
    const user = `system:serviceaccount:${namespace}:${account}`
    for (const place of places) {
      await eventually(async () => await expectAllowed(cluster, user, place, mark))
    }
  }
  const stop = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> => {
    if (running === null) return
    const ended = running.ended()
    running.process.kill(signal)
    await ended
    running = null
  }
  const start: OperatorSpace['start'] = async ({ env = {}, dieAt, expectDeath = false } = {}) => {
    await stop()
    const settings = { ...settingsOf(namespaces, kubeconfig), ...env }
    const program =
      dieAt === undefined
        ? startChild('operator/main.ts', { env: settings })
        : startChild('test/operator/support/mortal-operator.ts', {
            env: { ...settings, DIE_AT: dieAt },
          })
    started.push(program)
    running = expectDeath ? null : program
    if (!expectDeath) await program.says('controllers work')
    return program
  }
  await makeAccount(cluster, namespaces)
  await grant(chartRules())
  writeFileSync(kubeconfig, await kubeconfigOf(cluster, namespace), { mode: 0o600 })

  return {
    namespace,
    namespaces,
    kubeconfig,
    grant,
    stop,
    start,
    async dieAt(moment, write = async () => undefined, env = alone) {
      await stop('SIGKILL')
      const dying = await start({ env, dieAt: moment, expectDeath: true })
      await write()
      assert.equal((await dying.ended()).signal, 'SIGKILL', dying.stdout())
    },
    output: () => started.map((program) => program.stdout() + program.stderr()).join(''),
    async close() {
      await stop()
      for (const place of namespaces) await cluster.deleteNamespace(place)
      rmSync(folder, { recursive: true })
    },
  }
}

/** A right to what does not exist: whoever has it has the other rules of its Role as well. */
function markRule(number: number): Rule {
  return { apiGroups: ['test.viewmesh.io'], resources: [`grant-${number}`], verbs: ['get'] }
}

/** Throws where the API server does not know yet that a user has this right. */
async function expectAllowed(
  cluster: Cluster,
  user: string,
  namespace: string,
  { apiGroups: [group], resources: [resource], verbs: [verb] }: Rule,
): Promise<void> {
  const resourceAttributes = { namespace, group, resource, verb }
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, resourceAttributes },
  }
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  const { body: review } = await expectStatus(cluster.request('POST', path, { body }), 201)
  const { allowed } = review.status as { readonly allowed: boolean }
  if (!allowed) throw new Error(`${user} does not have the rights of its Role in ${namespace} yet`)
}

function settingsOf(
  namespaces: readonly string[],
  kubeconfig: string,
): Readonly<Record<string, string>> {
  return {
    KUBECONFIG: kubeconfig,
    WATCH_NAMESPACES: namespaces.join(','),
    LEASE_NAMESPACE: namespaces[0] ?? '',
    GENERATOR_IMAGE: images.generator,
    HOST_IMAGE: images.host,
    HEALTH_ADDR: '127.0.0.1:0',
    METRICS_ADDR: '127.0.0.1:0',
    LOG_LEVEL: 'debug',
  }
}

async function makeAccount(cluster: Cluster, namespaces: readonly string[]): Promise<void> {
  const [namespace = ''] = namespaces
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account } }
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await expectStatus(cluster.request('POST', path, { body }), 201)
  for (const place of namespaces) {
    await cluster.apply(`${rbac}/${place}/rolebindings/${account}`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: account, namespace: place },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    })
  }
}

/** The kubeconfig of the tests with the token of an account, by default the operator's, in place of its user. */
export async function kubeconfigOf(
  cluster: Cluster,
  namespace: string,
  name: string = account,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { body: answer } = await expectStatus(cluster.request('POST', path, { body }), 201)
  const { token } = answer.status as { readonly token: string }
  const { stdout } = await cluster.kubectl(['config', 'view', '--raw', '--minify', '--flatten'])
  const config = parse(stdout)
  const [context] = config.contexts
  return stringify({
    ...config,
    users: [{ name, user: { token } }],
    contexts: [{ ...context, context: { ...context.context, user: name, namespace } }],
  })
}
