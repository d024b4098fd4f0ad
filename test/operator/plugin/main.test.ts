/** `kubectl viewmesh` as a program. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { labels } from '../../../operator/api/annotations.ts'
import { type ChildProgram, startChild } from '../../support/child-program.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { testDirectory } from '../../support/test-store.ts'
import { kubeconfigText } from '../support/kubeconfig-text.ts'
import { kubernetesRoom } from '../support/kubernetes-room.ts'

const room = kubernetesRoom()

function start(t: TestContext, ...args: readonly string[]): ChildProgram {
  const file = join(testDirectory(t), 'config')
  writeFileSync(file, kubeconfigText(room.server.url))
  const child = startChild('operator/plugin/main.ts', { args, env: { KUBECONFIG: file } })
  t.after(() => child.process.kill('SIGKILL'))
  return child
}

test('a command asks the cluster that KUBECONFIG names, and its exit code is that of the program', async (t) => {
  const claims = await start(t, 'claims').ended()
  assert.deepEqual(
    [claims.code, claims.stderr],
    [0, 'There are no such claims in namespace shop.\n'],
  )
  assert.ok(room.server.requests.some(({ path }) => path.includes('/namespaces/shop/')))
  const refused = await start(t, 'status', 'pod/a').ended()
  assert.deepEqual([refused.code, refused.stdout], [2, ''])
  assert.match(refused.stderr, /^error: pod\/a is no Generator or Host/)
})

/** Logs of a Host that are followed, and what has its pod log a line more. */
async function follow(t: TestContext) {
  const marks = { [labels.name]: 'host', [labels.instance]: 'mainnet' }
  room.server.put('/apis/viewmesh.io/v1alpha1/namespaces/apps/hosts/mainnet', {
    ...readHost('host-minimal'),
  })
  room.server.put('/api/v1/namespaces/apps/pods/mainnet-host-0', { metadata: { labels: marks } })
  const { promise: asked, resolve } = Promise.withResolvers<ServerResponse>()
  room.server.faults.add(({ path }, response) => {
    if (!path.endsWith('/log')) return false
    response.write('block sealed\n')
    resolve(response)
    return true
  })
  const logs = start(t, 'logs', 'host/mainnet', '--follow', '-n', 'apps')
  await logs.says('[mainnet-host-0] block sealed\n')
  const response = await asked
  return { logs, logMore: () => void response.write('block sealed\n') }
}

test('a reader of logs that has seen enough is no failure', async (t) => {
  const { logs, logMore } = await follow(t)
  logs.process.stdout?.destroy()
  logMore()
  const { code, stderr } = await logs.ended()
  assert.deepEqual([code, stderr], [0, ''])
})

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`logs that are followed go on until ${signal}, which is no failure`, async (t) => {
    const { logs } = await follow(t)
    logs.process.kill(signal)
    const { code, stderr } = await logs.ended()
    assert.deepEqual([code, stderr], [0, ''])
  })
