/** Looks for values of Secrets wherever somebody without a right to Secrets can read. */
import assert from 'node:assert/strict'
import type { V1Secret } from '@kubernetes/client-node'
import { type Cluster, expectStatus } from './cluster.ts'

/** Texts by the place where they are shown. */
type Shown = Readonly<Record<string, string>>

/** What connection Secrets hold beside a key: addresses, which anybody may know. */
const openKeys = ['host', 'port', 'network', 'peers']
const ourPods = 'app.kubernetes.io/name in (operator,generator,host)'
const isOpen = (key: string): boolean => key.endsWith('-url') || openKeys.includes(key)

/** Everything secret in the Secrets of a namespace, each as it is and in Base64. */
export async function secretValues(cluster: Cluster, namespace: string): Promise<string[]> {
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const { body } = await expectStatus(cluster.request('GET', path), 200)
  const { items } = body as { readonly items: readonly V1Secret[] }
  const encoded = items
    .filter(({ type }) => type === 'Opaque')
    .flatMap(({ data = {} }) => Object.entries(data))
    .flatMap(([key, value]) => (isOpen(key) || value === '' ? [] : [value]))
  return encoded.flatMap((value) => [value, Buffer.from(value, 'base64').toString().trim()])
}

/** Whole logs of our programs, and what a reader of a namespace sees; `viewmesh` needs the definitions. */
export async function shownIn(
  cluster: Cluster,
  namespace: string,
  kinds = 'deployments,statefulsets,pods,services,persistentvolumeclaims,networkpolicies,leases',
): Promise<Shown> {
  const read = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cluster.kubectl(['--namespace', namespace, ...args])
    assert.equal(code, 0, stderr)
    return stdout
  }
  const get = (wanted: string): Promise<string> => read('get', wanted, '--output', 'json')
  return {
    logs: await read('logs', '--selector', ourPods, '--all-containers', '--tail=-1'),
    Events: await get('events.events.k8s.io'),
    ConfigMaps: await get('configmaps'),
    'other objects': await get(kinds),
  }
}

/** Throws where one of the values is shown, or nothing is; says where and never which. */
export function expectHidden(values: readonly string[], shown: Shown): void {
  assert.ok(values.length > 0)
  assert.ok(values.every((value) => value.length >= 16))
  const found = Object.entries(shown).filter(
    ([, text]) => text === '' || values.some((value) => text.includes(value)),
  )
  assert.deepEqual(
    found.map(([place]) => place),
    [],
  )
}
