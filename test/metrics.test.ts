/** Every metric is looked at by a test of the room that declares it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { declareGauges } from '../src/generator/status.ts'
import { createHostMetrics } from '../src/host/metrics.ts'
import { readSourceFiles } from './support/source-files.ts'

/** Where names are put together, so that the text of a file does not hold them. */
const composing: readonly string[] = ['src/generator/status.ts', 'src/host/metrics.ts']

const sources = readSourceFiles('src').filter(({ path }) => !path.startsWith('src/devnet/'))

function writtenNames(): string[] {
  return sources.flatMap(({ text }) =>
    [...text.matchAll(/'(viewmesh_\w+)'/g)].map(([, name]) => `${name}`),
  )
}

/** The names that the composing files declare. */
async function composedNames(): Promise<string[]> {
  const registry = new Registry()
  const state = (): never => assert.fail('gauges are read when they are scraped')
  declareGauges({ state } as never, registry)
  createHostMetrics(registry, {
    head: state,
    lag: state,
    gapBlocks: state,
    signers: state,
    countedSigners: state,
    waitingBlocks: state,
    waitingBytes: state,
  })
  return (await registry.getMetricsAsArray()).map(({ name }) => name)
}

test('names of metrics are written out, but for two files', () => {
  const found = sources.filter(({ text }) => text.includes('`viewmesh_')).map(({ path }) => path)
  assert.deepEqual(found, composing)
})

test('every metric is named in a test of its room, with what it stands at', async () => {
  const names = new Set([...writtenNames(), ...(await composedNames())])
  assert.ok(names.size > 50)
  const tests = readSourceFiles('test')
  const isShown = (name: string): boolean => {
    const [, room] = name.split('_')
    const pattern = new RegExp(`${name}(_count|_sum)?(?![a-z_])`)
    return tests.some(({ path, text }) => path.startsWith(`test/${room}/`) && pattern.test(text))
  }
  assert.deepEqual(
    [...names].filter((name) => !isShown(name)),
    [],
  )
})
