import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator } from '../../../../operator/api.ts'
import { upstreamService } from '../../../../operator/resources/objects/services.ts'
import { readGenerator } from '../../../support/resources/operator-cases.ts'

const generator = readGenerator('generator-pods')

/** The ports in front of an execution node with these. */
function portsOf(httpPort: number, wsPort?: number): readonly unknown[] | undefined {
  const matchLabels = { app: 'anvil' }
  const podSelector = {
    matchLabels,
    httpPort,
    colocate: 'None',
    ...(wsPort && { wsPort }),
  } as const
  const of: Generator = { ...generator, spec: { ...generator.spec, upstream: { podSelector } } }
  return upstreamService(of)?.spec?.ports?.map(({ name, port, targetPort }) => [
    name,
    port,
    targetPort,
  ])
}

test('a Service stands in front of both ports of an execution node, or of the one for both', () => {
  assert.deepEqual(portsOf(8545, 8546), [
    ['http', 8545, 8545],
    ['ws', 8546, 8546],
  ])
  assert.deepEqual(portsOf(8545, 8545), [['http', 8545, 8545]])
  assert.deepEqual(portsOf(8545), [['http', 8545, 8545]])
  assert.equal(upstreamService(readGenerator('generator-minimal')), null)
})
