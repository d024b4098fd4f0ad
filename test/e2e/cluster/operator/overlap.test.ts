import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Audited, auditedOperators } from '../support/audited/audited-operators.ts'
import type { ProxiedWrite } from '../support/audited/kubernetes-proxy.ts'
import { eventually, hostOf, parked } from '../support/cluster-resources.ts'

describe('two installations that watch one namespace, on a real cluster', () => {
  const operators = auditedOperators()

  /** An operator with a Lease of its own, whose Hosts have another image than those of the other one. */
  const start = async (name: string): Promise<Audited> => {
    const audited = await operators.start({
      LEASE_NAME: name,
      GENERATOR_IMAGE: `localhost/viewmesh-generator:${name}`,
      HOST_IMAGE: `localhost/viewmesh-host:${name}`,
    })
    await audited.program.says('controllers work')
    return audited
  }
  const isObject = ({ path }: ProxiedWrite): boolean => !/\/(?:leases|events|status)/.test(path)
  const managedBy = async (): Promise<unknown> =>
    (await operators.here.status('Host', 'shared')).managedBy
  const setVersion = async (): Promise<unknown> =>
    (await operators.here.find('StatefulSet', 'shared-host'))?.metadata.resourceVersion

  test('one goes on, the other writes no object, and both say which is which', async () => {
    const first = await start('first')
    await operators.here.write(hostOf('shared', parked))
    await operators.here.reason('Host', 'shared', 'Ready', 'Unschedulable')
    assert.equal(await managedBy(), `${operators.namespace}/first`)
    const version = await setVersion()

    const second = await start('second')
    const { message } = await operators.here.reason(
      'Host',
      'shared',
      'Contested',
      'OperatorsOverlap',
    )
    assert.match(message, new RegExp(`Operator ${operators.namespace}/second manages it as well`))
    await eventually(async () => {
      const [note = ''] = await operators.here.notes('LeftToOperator')
      assert.match(
        note,
        new RegExp(
          `${operators.namespace}/second leaves it to operator ${operators.namespace}/first`,
        ),
      )
    })
    assert.equal(await managedBy(), `${operators.namespace}/first`)
    const { status } = await operators.cluster.request(
      'DELETE',
      operators.here.path('Service', 'shared-host'),
    )
    assert.equal(status, 200)
    await eventually(async () => assert.ok(await operators.here.find('Service', 'shared-host')))
    assert.deepEqual(second.proxy.writes.filter(isObject), [])
    assert.ok(first.proxy.writes.some(isObject))
    assert.equal(await setVersion(), version)

    for (const { program } of [first, second]) {
      program.process.kill('SIGTERM')
      assert.equal((await program.ended()).code, 0)
    }
  })

  test('the one that is left takes over what the other managed, and nothing is contested', async () => {
    await start('second')
    await eventually(async () => {
      assert.equal(await managedBy(), `${operators.namespace}/second`)
      const { conditions = [] } = await operators.here.status('Host', 'shared')
      assert.deepEqual(
        conditions.filter(({ type }) => type === 'Contested'),
        [],
      )
    })
    await operators.here.reason('Host', 'shared', 'Ready', 'Unschedulable')
    await operators.here.write(hostOf('shared', { ...parked, replicas: 2 }))
    await eventually(async () => {
      const nodes = (await operators.here.status('Host', 'shared')).nodes ?? []
      assert.equal(nodes.length, 2)
    })
  })
})
