/**
 * Values that put a Generator as one more container into the pods of an execution client's chart. The
 * rules: never an init container, no readiness and no startup probe, so that the node's pod neither
 * waits for it nor becomes unready with it; a memory limit; user 1001; the API on loopback; claims,
 * Secret and a Service for peers of its own.
 */
import { readFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { ports } from '../../src/service/contract.ts'
import { repository } from '../support/repository.ts'

interface ExecutionClient {
  readonly name: string
  /** Port of the WebSocket in the charts of ethpandaops, where JSON-RPC is on 8545. */
  readonly wsPort: number
  /** What is different with this client. */
  readonly note?: string
}

/** The clients whose ethpandaops chart takes `podLabels`, `extraContainers` and `extraVolumes`. */
export const executionClients: readonly ExecutionClient[] = [
  { name: 'geth', wsPort: 8545 },
  { name: 'reth', wsPort: 8546 },
  { name: 'nethermind', wsPort: 8545 },
  { name: 'besu', wsPort: 8546 },
  {
    name: 'erigon',
    wsPort: 8545,
    note: 'Its pods share one process namespace; other containers see this one, but cannot read its files.',
  },
]

/** The values for one client, with comments. */
export function sidecarSnippet({ name, wsPort, note }: ExecutionClient): string {
  const { version } = JSON.parse(readFileSync(`${repository}/package.json`, 'utf8'))
  const values = {
    podLabels: { 'viewmesh.io/sidecar': 'generator' },
    extraContainers: [container(version, wsPort)],
    extraVolumes: [
      { name: 'viewmesh-keys', persistentVolumeClaim: { claimName: 'viewmesh-generator-keys' } },
      { name: 'viewmesh-data', persistentVolumeClaim: { claimName: 'viewmesh-generator-data' } },
      {
        name: 'viewmesh-secrets',
        secret: { secretName: 'viewmesh-generator-keyring', defaultMode: 0o440 },
      },
      { name: 'viewmesh-tmp', emptyDir: { sizeLimit: '256Mi' } },
    ],
  }
  const lines = [
    `A Generator in the pods of ${name}, as values for the chart ethpandaops/${name}.`,
    'Before: kubectl apply -f charts/sidecar/claims.yaml -f charts/sidecar/service.yaml, and the Secret as',
    'docs/kubernetes/sidecar.md says. One replica only.',
    ...(note === undefined ? [] : [note]),
  ]
  return `${lines.map((line) => `# ${line}\n`).join('')}${stringify(values, { lineWidth: 0 })}`
}

function container(version: string, wsPort: number): object {
  const secrets = '/run/viewmesh/secrets'
  const environment = {
    CHAIN_NAME: 'Ethereum',
    CHAIN_NETWORK: 'Mainnet',
    NODE_RPC_URL: 'http://127.0.0.1:8545',
    NODE_WS_URL: `ws://127.0.0.1:${wsPort}`,
    DB_API_ADDR: `127.0.0.1:${ports.api}`,
    DB_KEYRING_SECRET_FILE: `${secrets}/0`,
    SCHEMA_API_KEYS_FILE: `${secrets}/schema-keys`,
  }
  return {
    name: 'viewmesh-generator',
    image: `registry.example.org/viewmesh/viewmesh-generator:${version}`,
    env: Object.entries(environment).map(([variable, value]) => ({ name: variable, value })),
    ports: [
      { name: 'viewmesh-p2p', containerPort: ports.p2p },
      { name: 'viewmesh-health', containerPort: ports.health },
    ],
    livenessProbe: {
      tcpSocket: { port: ports.health },
      initialDelaySeconds: 60,
      periodSeconds: 20,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    resources: { requests: { cpu: '100m', memory: '384Mi' }, limits: { memory: '2Gi' } },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 1001,
      runAsGroup: 1001,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumeMounts: [
      { name: 'viewmesh-keys', mountPath: '/app/.viewmesh/keys' },
      { name: 'viewmesh-data', mountPath: '/app/.viewmesh/generator' },
      { name: 'viewmesh-secrets', mountPath: secrets, readOnly: true },
      { name: 'viewmesh-tmp', mountPath: '/tmp' },
    ],
  }
}
