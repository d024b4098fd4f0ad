/** Which cluster a command is about, as a kubeconfig and its flags say. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  type ClusterFlags,
  openClusterAccess,
} from '../../../../operator/plugin/cluster/cluster-access.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { testDirectory } from '../../../support/test-store.ts'
import { kubeconfigText } from '../../support/kubeconfig-text.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send } from '../../support/kubernetes-server.ts'

const room = kubernetesRoom()

/** A kubeconfig with the contexts `first`, which is the current one, and `second`. */
function kubeconfig(t: TestContext, changed: object = {}): string {
  const file = join(testDirectory(t), 'config')
  writeFileSync(file, kubeconfigText(room.server.url, changed))
  return file
}

async function namespaceOf(flags: ClusterFlags): Promise<string> {
  const access = await openClusterAccess(flags)
  await access.close()
  return access.namespace
}

test('the namespace is that of the flag, or of the context that was chosen, or the default one', async (t) => {
  const file = kubeconfig(t)
  assert.equal(await namespaceOf({ kubeconfig: file }), 'shop')
  assert.equal(await namespaceOf({ kubeconfig: file, context: 'second' }), 'default')
  assert.equal(await namespaceOf({ kubeconfig: file, namespace: 'apps' }), 'apps')
})

/** Has KUBECONFIG name this file until the test is over. */
function setDefault(t: TestContext, file: string): void {
  const { env } = process
  const before = env['KUBECONFIG']
  env['KUBECONFIG'] = file
  t.after(() => {
    if (before === undefined) delete env['KUBECONFIG']
    else env['KUBECONFIG'] = before
  })
}

test('without the flag the kubeconfig is the one that KUBECONFIG names', async (t) => {
  setDefault(t, kubeconfig(t))
  assert.equal(await namespaceOf({}), 'shop')
  setDefault(t, kubeconfig(t, { 'proxy-url': 'http://proxy.example.org' }))
  await assert.rejects(openClusterAccess({}), {
    message: 'the kubeconfig has a proxy-url, and a proxy is not supported',
  })
})

test('the cluster of the kubeconfig is asked, as the plugin', async (t) => {
  const access = await openClusterAccess({ kubeconfig: kubeconfig(t) })
  t.after(() => access.close())
  const agents: unknown[] = []
  room.server.faults.add(({ path, headers }, response) => {
    agents.push(headers['user-agent'])
    if (!path.startsWith('/version')) return false
    send(response, 200, { gitVersion: 'v1.34.1' })
    return true
  })
  assert.equal(await access.serverVersion(), 'v1.34.1')
  await access.api.list({ type: builtinTypes.Pod, namespace: 'apps' }, { keep: (pod) => pod })
  assert.match(String(agents.at(-1)), /^kubectl-viewmesh\//)
})

test('a kubeconfig that cannot be read, or has no such context, is refused', async (t) => {
  const missing = { code: 'OPERATOR_CONNECTION_MISSING' }
  await assert.rejects(openClusterAccess({ kubeconfig: '/nonexistent/config' }), {
    ...missing,
    message: 'the kubeconfig cannot be read',
  })
  await assert.rejects(openClusterAccess({ kubeconfig: kubeconfig(t), context: 'third' }), {
    ...missing,
    message: 'there is no context third',
  })
})

test('a cluster that is reached by a proxy is refused before anything is asked', async (t) => {
  const file = kubeconfig(t, { 'proxy-url': 'http://proxy.example.org' })
  await assert.rejects(openClusterAccess({ kubeconfig: file }), {
    code: 'OPERATOR_CONNECTION_MISSING',
    message: `${file} has a proxy-url, and a proxy is not supported`,
  })
  assert.deepEqual(room.server.requests, [])
})
