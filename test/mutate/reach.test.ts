/** Which tests are run for a changed file, and in which order. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readSourceFiles, root } from '../support/source-files.ts'
import { findPlaces } from './find-places.ts'
import { createReach, mirroredTest, readModuleGraph } from './reach.ts'
import { testFiles } from './test-files.ts'
import { inOrder } from './try-mutant.ts'

const graph = new Map([
  ['test/store/prune.test.ts', ['src/store/prune.ts']],
  ['test/store/room.test.ts', ['src/store/store.ts']],
  ['test/store/deep/other.test.ts', ['src/store/prune.ts']],
  ['test/host/host.test.ts', ['src/host/host.ts']],
  ['test/chain/rpc.test.ts', ['src/chain/rpc.ts']],
  ['src/host/host.ts', ['src/store/store.ts', 'src/chain/rpc.ts']],
  ['src/store/store.ts', ['src/store/prune.ts']],
])
const reach = createReach(graph, testFiles([...graph.keys()]))

describe('tests that reach a file', () => {
  test('are its own, those of its folder and its room, and others, with the steps to it', () => {
    assert.deepEqual(reach('src/store/prune.ts'), [
      { path: 'test/store/prune.test.ts', ring: 0, steps: 1 },
      { path: 'test/store/room.test.ts', ring: 1, steps: 2 },
      { path: 'test/store/deep/other.test.ts', ring: 2, steps: 1 },
      { path: 'test/host/host.test.ts', ring: 3, steps: 3 },
    ])
  })

  test('mirror the folders of src and of operator', () => {
    assert.equal(mirroredTest('src/host/apply/verify.ts'), 'test/host/apply/verify.test.ts')
    assert.equal(mirroredTest('operator/crd/schema.ts'), 'test/operator/crd/schema.test.ts')
  })

  test('run from the nearest ring outwards, in each ring the quick ones first', () => {
    const durations = new Map([
      ['slow', 9_000],
      ['quick', 100],
      ['near', 60_000],
    ])
    const known = (path: string) => {
      const durationMs = durations.get(path)
      return durationMs === undefined ? null : { passed: true, durationMs, coverage: {} }
    }
    const tests = [
      { path: 'slow', ring: 3, steps: 2 },
      { path: 'quick', ring: 3, steps: 4 },
      { path: 'never run', ring: 3, steps: 1 },
      { path: 'near', ring: 0, steps: 1 },
    ]
    const ordered = inOrder(tests, { known }).map(({ path }) => path)
    assert.deepEqual(ordered, ['near', 'quick', 'never run', 'slow'])
  })
})

describe('in this repository', () => {
  const files = readSourceFiles('src', 'operator', 'test', 'images')
  const own = readModuleGraph(root, files)
  const reachOwn = createReach(own, testFiles([...own.keys()]))

  test('every file with something to change is reached, but starts and what needs a cluster', () => {
    const sources = files.filter(({ path }) => /^(src|operator)\//.test(path))
    const unreached = sources.filter(({ path, text }) => {
      const isCommand = path.endsWith('/main.ts')
      const needsCluster = path.startsWith('operator/plugin/cluster/')
      return (
        !isCommand &&
        !needsCluster &&
        reachOwn(path).length === 0 &&
        findPlaces(path, text).length > 0
      )
    })
    assert.deepEqual(
      unreached.map(({ path }) => path),
      [],
    )
  })

  test('a test that starts the programs reaches what they are made of', () => {
    const reaching = reachOwn('src/main.ts').map(({ path }) => path)
    assert.ok(reaching.includes('test/main.test.ts'))
  })
})
