/**
 * Nodes whose pods cost nothing: kwok answers for their kubelets. Nothing but pods that tolerate them
 * is scheduled there.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Cluster, expectStatus } from '../../e2e/cluster/support/cluster.ts'

export interface FakeNodes {
  /** Fields of a pod template that bring its pods there. */
  readonly podSpec: object
  /** Takes the nodes away and ends kwok; their pods have to be gone before. */
  close(): Promise<void>
}

interface FakeNodesOptions {
  /** Label value and prefix of names; nobody else's. */
  readonly name: string
  readonly count: number
  /** Pods that each node takes. */
  readonly pods: number
  readonly kubeconfig: string
}

const labelName = 'viewmesh.io/bench'
/** For benchmarks alone (RFC 2544): nobody answers there, and nobody is disturbed. */
const podAddresses = '198.18.0.1/15'

/** What selects everything a bench of this name made outside its namespace. */
export function benchLabels(name: string): Readonly<Record<string, string>> {
  return { [labelName]: name }
}

/** Starts kwok, makes the nodes and waits until they are ready. Throws where there is no kwok. */
export async function openFakeNodes(
  { name, count, pods, kubeconfig }: FakeNodesOptions,
  { cluster }: { readonly cluster: Cluster },
): Promise<FakeNodes> {
  const kwok = await startKwok(name, kubeconfig)
  const close = async (): Promise<void> => {
    await cluster.request('DELETE', '/api/v1/nodes', { query: selecting(name) })
    const ended = once(kwok, 'exit')
    if (kwok.exitCode === null && kwok.kill()) await ended
  }
  try {
    for (let number = 0; number < count; number += 1) {
      const body = nodeOf(name, number, pods)
      await expectStatus(cluster.request('POST', '/api/v1/nodes', { body }), 201)
    }
    const wait = ['wait', 'node', '-l', `${labelName}=${name}`, '--for=condition=Ready']
    const { code, stderr } = await cluster.kubectl([...wait, '--timeout=60s'])
    if (code !== 0) throw new Error(`the nodes of kwok do not become ready: ${stderr}`)
  } catch (error) {
    await close()
    throw error
  }
  return {
    podSpec: {
      nodeSelector: benchLabels(name),
      tolerations: [{ key: labelName, operator: 'Equal', value: name, effect: 'NoSchedule' }],
    },
    close,
  }
}

/** The query of a request for everything of this bench. */
export function selecting(name: string): Readonly<Record<string, string>> {
  return { labelSelector: `${labelName}=${name}` }
}

/** In a process group of its own, so that Ctrl-C leaves it until the pods are gone. */
async function startKwok(name: string, kubeconfig: string): Promise<ChildProcess> {
  const kwok = spawn(
    'kwok',
    [
      ...['--kubeconfig', kubeconfig],
      '--manage-all-nodes=false',
      `--manage-nodes-with-label-selector=${labelName}=${name}`,
      ...['--node-lease-duration-seconds', '40'],
      ...['--cidr', podAddresses],
    ],
    { detached: true, stdio: 'ignore' },
  )
  try {
    await once(kwok, 'spawn')
  } catch {
    throw new Error(
      'kwok is not on PATH: go install sigs.k8s.io/kwok/cmd/kwok@v0.7.0, and add $(go env GOPATH)/bin to PATH',
    )
  }
  return kwok
}

function nodeOf(name: string, number: number, pods: number): object {
  const room = { cpu: '4000', memory: '16Ti', pods: String(pods) }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `${name}-${number}`, labels: benchLabels(name) },
    spec: { taints: [{ key: labelName, value: name, effect: 'NoSchedule' }] },
    status: { allocatable: room, capacity: room },
  }
}
