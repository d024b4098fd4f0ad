import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { declareScrapedGauges } from '../src/scraped-gauge.ts'

test('a gauge shows what it reads at each scrape, and nothing while that is unknown', async () => {
  const registry = new Registry()
  const values: (number | null)[] = [7, null, 0]
  declareScrapedGauges(registry, 'example_', [
    ['height', 'A height.', () => values.shift() ?? null],
  ])
  const samples = async (): Promise<readonly number[]> => {
    const [metric] = await registry.getMetricsAsJSON()
    assert.deepEqual([metric?.name, metric?.help], ['example_height', 'A height.'])
    return metric?.values.map(({ value }) => value) ?? []
  }
  assert.deepEqual([await samples(), await samples(), await samples()], [[7], [], [0]])
})
