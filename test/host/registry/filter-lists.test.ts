/** Which registered Views are allowed and denied: by settings and by files, as they are now. */
import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type FilterSettings, openFilters } from '../../../src/host/registry/filter-lists.ts'
import { captureLog } from '../../support/captured-log.ts'
import { watchTimers } from '../../support/leaks/timers.ts'
import { testDirectory } from '../../support/test-store.ts'

const none: FilterSettings = {
  registryAllow: [],
  registryAllowFile: null,
  registryDeny: [],
  registryDenyFile: null,
}

/** Lists whose files have these lines; a file without any is empty. */
async function open(
  t: TestContext,
  { allow, deny, ...settings }: Partial<FilterSettings> & { allow?: string[]; deny?: string[] },
) {
  const home = testDirectory(t)
  const write = (name: string, lines: readonly string[]): string => {
    const path = join(home, name)
    writeFileSync(`${path}.new`, lines.join('\n'))
    renameSync(`${path}.new`, path)
    return path
  }
  const filters = await openFilters(
    {
      ...none,
      registryAllowFile: allow === undefined ? null : write('allow', allow),
      registryDenyFile: deny === undefined ? null : write('deny', deny),
      ...settings,
    },
    captureLog().log,
  )
  t.after(filters.close)
  /** How Views of these types stand. */
  const standing = (...names: readonly string[]): string[] =>
    names.map((name) => filters.standing({ ids: [], sender: '', name }))
  return { filters, standing, write }
}

test('a View is allowed or denied by a setting and by a file, and by neither without any', async (t) => {
  const lists = { registryAllow: ['A'], allow: ['B'], registryDeny: ['C'], deny: ['D'] }
  const { filters, standing } = await open(t, lists)
  assert.deepEqual(standing('A', 'B'), ['allowed', 'allowed'])
  assert.deepEqual(standing('C', 'D', 'E'), ['denied', 'denied', 'neither'])
  assert.equal(filters.denyProblem(), null)
  const empty = await open(t, {})
  assert.deepEqual([empty.standing('A'), empty.filters.denyProblem()], [['neither'], null])
})

test('of what is allowed the lines count that can be read, of what is denied all or none', async (t) => {
  const lines = ['A', 'no entry', 'B']
  const allowing = await open(t, { allow: lines })
  assert.deepEqual(allowing.standing('A', 'B'), ['allowed', 'allowed'])
  assert.equal(allowing.filters.denyProblem(), null)
  const denying = await open(t, { deny: lines })
  assert.deepEqual(denying.standing('A', 'B'), ['neither', 'neither'])
  assert.equal(denying.filters.denyProblem(), 'line 2 cannot be read')
  const empty = await open(t, { deny: [] })
  assert.equal(empty.filters.denyProblem(), null)
  const missing = await open(t, { registryDenyFile: join(testDirectory(t), 'missing') })
  assert.equal(missing.filters.denyProblem(), 'ENOENT')
})

test('a file that changes counts as it is by the time that its change is reported', async (t) => {
  const { filters, standing, write } = await open(t, { allow: ['A'], deny: ['B'] })
  const changed = (): Promise<string[]> =>
    new Promise((resolve) => filters.onChange(() => resolve(standing('A', 'B', 'C'))))
  const allowing = changed()
  write('allow', ['C'])
  assert.deepEqual(await allowing, ['neither', 'denied', 'allowed'])
  const denying = changed()
  write('deny', ['A', 'B'])
  assert.deepEqual(await denying, ['denied', 'denied', 'allowed'])
})

test('no file is looked at any more once the lists are closed', async (t) => {
  const running = watchTimers(t)
  const { filters } = await open(t, { allow: ['A'], deny: ['B'] })
  assert.equal(running().length, 2)
  filters.close()
  assert.deepEqual(running(), [])
})
