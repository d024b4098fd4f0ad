/** Every metric of the programs is looked at by a test of the room that declares it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metricsOf } from './generate/declared-metrics.ts'
import { readSourceFiles } from './support/source-files.ts'

test('every metric is named in a test of its room, with what it stands at', () => {
  const declared = [...metricsOf('generator'), ...metricsOf('host')].map(({ name }) => name)
  const names = new Set(declared.filter((name) => name.startsWith('viewmesh_')))
  assert.ok(names.size > 50)
  const tests = readSourceFiles('test')
  const isShown = (name: string): boolean => {
    const [, room] = name.split('_')
    const pattern = new RegExp(`${name}(_count|_sum)?(?![a-z_])`)
    const places = [`test/${room}/`, `test/host/${room}/`]
    return tests.some(
      ({ path, text }) => places.some((place) => path.startsWith(place)) && pattern.test(text),
    )
  }
  assert.deepEqual(
    [...names].filter((name) => !isShown(name)),
    [],
  )
})
