import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { V1LeaseSpec, V1StatefulSetSpec } from '@kubernetes/client-node'
import { type Audited, auditedOperators } from '../support/audited/audited-operators.ts'
import type { ProxiedWrite } from '../support/audited/kubernetes-proxy.ts'
import { eventually, hostOf, parked } from '../support/cluster-resources.ts'

type Specified = Partial<V1LeaseSpec & V1StatefulSetSpec>

describe('who of several operators writes, on a real cluster', () => {
  const operators = auditedOperators()

  const stop = async ({ program }: Audited): Promise<void> => {
    program.process.kill('SIGTERM')
    assert.equal((await program.ended()).code, 0)
    const { holderIdentity } = await specOf('Lease', 'viewmesh-operator')
    assert.equal(holderIdentity, '')
  }
  const specOf = async (kind: 'Lease' | 'StatefulSet', name: string): Promise<Specified> =>
    ((await operators.here.find(kind, name))?.spec ?? {}) as Specified
  const write = async (name: string, replicas: number): Promise<void> =>
    await operators.here.write(hostOf(name, { ...parked, replicas }))
  /** Everything of this Host is as its newest spec says. */
  const settled = async (name: string, replicas: number): Promise<void> =>
    await eventually(async () => {
      const host = await operators.here.find('Host', name)
      const { observedGeneration, nodes = [] } = await operators.here.status('Host', name)
      assert.equal(observedGeneration, host?.metadata.generation)
      assert.equal(nodes.filter(({ keyringFingerprint }) => keyringFingerprint).length, replicas)
      assert.equal((await specOf('StatefulSet', `${name}-host`)).replicas, replicas)
      const keys = (await operators.here.find('Secret', `${name}-host-keyring`))?.data ?? {}
      assert.equal(Object.keys(keys).length, replicas)
    })

  const isLease = ({ path }: ProxiedWrite): boolean => path.includes('/leases')
  const isWork = (written: ProxiedWrite): boolean => !isLease(written)
  const isAccepted = ({ answer }: ProxiedWrite): boolean => answer !== null && answer.status < 300

  test('an operator paused beyond its Lease writes nothing when it continues', async () => {
    const first = await operators.start()
    await first.program.says('controllers work')
    await write('kept', 1)
    await settled('kept', 1)
    const second = await operators.start()
    await second.program.says('health and metrics are served')

    const beginMs = performance.now()
    const amid = first.proxy.wrote(
      ({ path, method, receivedMs }) =>
        receivedMs > beginMs && method === 'POST' && /\/secrets$/.test(path),
    )
    const begin = write('begun', 2)
    await amid
    first.program.process.kill('SIGSTOP')
    await begin
    await write('kept', 2)
    await write('fresh', 1)
    const begun = await second.proxy.wrote(isWork)
    first.program.process.kill('SIGCONT')
    await write('kept', 3)
    const ended = await first.program.ended()
    assert.equal(ended.code, 1)
    assert.match(ended.stdout, /OPERATOR_LEADERSHIP_LOST/)
    assert.match(ended.stdout, /host.* was held back/)

    await Promise.all([settled('kept', 3), settled('begun', 2), settled('fresh', 1)])
    const accepted = first.proxy.writes.filter(isAccepted)
    const late = accepted.filter(({ answer }) => (answer?.atMs ?? 0) > begun.receivedMs)
    assert.deepEqual(late, [])
    assert.ok(accepted.some(isWork))
    assert.ok(second.proxy.writes.filter(isAccepted).length > 0)
    await stop(second)
  })

  test('one goes on where it was when the API server was away for longer than its Lease', async () => {
    const { program, proxy } = await operators.start()
    await program.says('controllers work')
    proxy.cut()
    await program.says('nothing is written until it is')
    await write('after-it', 0)
    proxy.restore()
    await program.says('writing goes on')
    await eventually(async () => {
      assert.equal((await operators.here.status('Host', 'after-it')).observedGeneration, 1)
    })
    await stop({ program, proxy })
  })
})
