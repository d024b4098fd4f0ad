import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  largerSize,
  parseQuantity,
  sameQuantity,
} from '../../../../operator/resources/names/quantity.ts'

test('quantities are read as Kubernetes reads them', () => {
  const table: Readonly<Record<string, number | undefined>> = {
    '0': 0,
    '1Ki': 1_024,
    '300Gi': 322_122_547_200,
    '1.5Gi': 1_610_612_736,
    '5M': 5_000_000,
    '500m': 0.5,
    '2e3': 2_000,
    '1E3': 1_000,
    '1E': 1e18,
    '2n': 2e-9,
    '4u': 4e-6,
    '2k': 2_000,
    '5G': 5e9,
    '5T': 5e12,
    '5P': 5e15,
    '2Mi': 2_097_152,
    '1Ti': 2 ** 40,
    '1Pi': 2 ** 50,
    '1Ei': 2 ** 60,
    '.5': 0.5,
    '1.': 1,
    '+5': 5,
    '-5Gi': -5 * 2 ** 30,
    '25e-1': 2.5,
    '1e+3': 1_000,
    '1e1234': undefined,
    '.': undefined,
    '1K': undefined,
    x1: undefined,
    '1e': undefined,
    '': undefined,
    plenty: undefined,
    '1KiB': undefined,
    Gi: undefined,
    '1 Gi': undefined,
  }
  for (const [text, number] of Object.entries(table))
    assert.equal(parseQuantity(text), number, text)
})

test('the same size written otherwise is the same', () => {
  assert.ok(sameQuantity('1024Mi', '1Gi'))
  assert.ok(sameQuantity('1000m', '1'))
  assert.ok(sameQuantity(1, '1'))
  assert.ok(sameQuantity('0', '0Gi'))
  assert.ok(!sameQuantity('1G', '1Gi'))
  assert.ok(!sameQuantity('plenty', 'plenty'))
})

test('any whole number of Mi is the same in Ki', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), (mebibytes) => {
      assert.ok(sameQuantity(`${mebibytes}Mi`, `${mebibytes * 1_024}Ki`))
    }),
  )
})

test('the larger size is the one to keep, as it was written', () => {
  assert.equal(largerSize('10Gi', '20Gi'), '20Gi')
  assert.equal(largerSize('20Gi', '10Gi'), '20Gi')
  assert.equal(largerSize('1Gi', '1024Mi'), '1Gi')
  assert.equal(largerSize('plenty', '1'), '1')
  assert.equal(largerSize('1', 'plenty'), '1')
  assert.equal(largerSize('0', 'plenty'), '0')
  assert.equal(largerSize('none', 'plenty'), 'none')
})
