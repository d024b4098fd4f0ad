/** An execution node in the cluster: anvil behind a Service, a block a second. */
import { stringify } from 'yaml'
import type { Cluster } from './cluster.ts'
import { clusterImage } from './cluster-image.ts'

const labels = { app: 'anvil' }

/** Port of the Service for both HTTP and WebSocket. */
export const anvilPort = 8545

/** Makes Deployment and Service `anvil`; they fit the restricted Pod Security level. */
export async function deployAnvil(cluster: Cluster, namespace: string): Promise<void> {
  const container = {
    name: 'anvil',
    image: clusterImage('anvil'),
    ports: [{ containerPort: anvilPort }],
    readinessProbe: { tcpSocket: { port: anvilPort } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  }
  const spec = {
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 1001,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    terminationGracePeriodSeconds: 1,
    containers: [container],
    volumes: [{ name: 'tmp', emptyDir: {} }],
  }
  const objects = [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'anvil', labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'anvil', labels },
      spec: { selector: labels, ports: [{ name: 'rpc', port: anvilPort }] },
    },
  ]
  const text = objects.map((object) => stringify(object)).join('---\n')
  const { code, stderr } = await cluster.kubectl(
    ['--namespace', namespace, 'apply', '-f', '-'],
    text,
  )
  if (code !== 0) throw new Error(stderr)
}
