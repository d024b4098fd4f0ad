import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ordinalIn } from '../../../../operator/plugin/cluster/replicas.ts'
import { parseResourceName } from '../../../../operator/plugin/cluster/resources.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { runPlugin } from '../../support/plugin-run.ts'

const room = kubernetesRoom()

test('a resource is named as kubectl names it', () => {
  for (const text of [
    'host/mainnet',
    'hosts/mainnet',
    'Host/mainnet',
    'hosts.viewmesh.io/mainnet',
  ]) {
    assert.deepEqual(parseResourceName(text), { kind: 'Host', name: 'mainnet' })
  }
  assert.deepEqual(parseResourceName('generator/a-1'), { kind: 'Generator', name: 'a-1' })
})

test('anything else is refused before the cluster is asked', async () => {
  for (const text of ['mainnet', 'pod/mainnet', 'host/', 'host/a/b', 'host/../x', 'host/A', '']) {
    assert.throws(() => parseResourceName(text), { code: 'PLUGIN_ARGUMENT_INVALID' })
  }
  const { code, stderr } = await runPlugin(room.client, ['status', 'pod/\x1b[2J'])
  assert.equal(code, 2)
  assert.equal(
    stderr,
    'error: pod/\\u001b[2J is no Generator or Host (PLUGIN_ARGUMENT_INVALID)\nWhat to do: Name it as KIND/NAME, such as host/mainnet or generator/mainnet.\n',
  )
  assert.deepEqual(room.server.requests, [])
})

test('only names that end in the number of a replica are those of one', () => {
  assert.equal(ordinalIn('keys-a-host-12', 'keys-a-host'), 12)
  for (const name of ['keys-a-host', 'keys-a-host-', 'keys-a-host-01', 'keys-a-host-1-2', 'b-1']) {
    assert.equal(ordinalIn(name, 'keys-a-host'), null)
  }
})

test('what the API server refuses is reported with what a person does about it', async () => {
  room.server.faults.add((_, response) => {
    const message = 'hosts.viewmesh.io "a" is forbidden: User "eve" cannot get resource "hosts"'
    send(response, 403, status(403, 'Forbidden', message))
    return true
  })
  const { code, stderr } = await runPlugin(room.client, ['status', 'host/a'])
  assert.equal(code, 2)
  assert.match(
    stderr,
    /^error: get hosts apps\/a: 403 .*cannot get resource "hosts" \(OPERATOR_API_FORBIDDEN\)\n/,
  )
  assert.match(stderr, /\nWhat to do: Ask whoever grants rights in this cluster/)
})
