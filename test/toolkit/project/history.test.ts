import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createHistory } from '../../../src/toolkit/project/history.ts'
import { sha256 } from '../../../src/toolkit/project/view-content.ts'
import { viewLimits } from '../../../src/views/view.ts'
import { wasm } from '../support/test-project.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

/** The history of an empty project. */
async function openHistory(context: TestContext) {
  const { cwd: folder } = await openTestTerminal(context)
  const kept = join(folder, '.viewmesh')
  return { kept, history: createHistory({ folder, history: kept, settingsFile: null }) }
}

test('revisions are in the order of their numbers, and other files beside them are none', async (context) => {
  const { kept, history } = await openHistory(context)
  assert.deepEqual(await history.revisions('Things'), [])
  await mkdir(join(kept, 'views/Things'), { recursive: true })
  const files = ['1000000', '999999', '000002', '000010'].map((number) => `${number}.json`)
  for (const file of [...files, '12345.json', '000003.json.old', 'a000004.json', 'applied'])
    await writeFile(join(kept, 'views/Things', file), '')
  assert.deepEqual(await history.revisions('Things'), [2, 10, 999_999, 1_000_000])
})

test('a revision is kept as JSON that people can read, and read as it was written', async (context) => {
  const { kept, history } = await openHistory(context)
  const revision = {
    ...{ revision: 7, at: '2026-01-01T00:00:00.000Z', cause: 'add sdl', restores: null },
    ...{ query: null, sdl: 'type Thing { a: Int }', lenses: [] },
  }
  await history.writeRevision('Things', revision)
  const text = await readFile(join(kept, 'views/Things/000007.json'), 'utf8')
  assert.equal(text, `${JSON.stringify({ format: 1, ...revision }, null, 2)}\n`)
  assert.deepEqual(await history.readRevision('Things', 7), revision)
  await assert.rejects(history.readRevision('Things', 8), {
    code: 'TOOLKIT_HISTORY_DAMAGED',
    message: `${join(kept, 'views/Things/000008.json')} is damaged or missing`,
  })
})

test('a revision keeps the arguments of its lenses, which are texts, or none at all', async (context) => {
  const { kept, history } = await openHistory(context)
  const lenses = [null, {}, { src: 'data', value: '0x1' }].map((args, index) => ({
    ...{ label: `l${index}`, args, sha256: sha256(wasm(1)), bytes: 9 },
  }))
  const revision = {
    ...{ revision: 1, at: '2026-01-01T00:00:00.000Z', cause: 'create', restores: null },
    ...{ query: null, sdl: null, lenses },
  }
  await history.writeRevision('Things', revision)
  assert.deepEqual(await history.readRevision('Things', 1), revision)
  const path = join(kept, 'views/Things/000001.json')
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace('"0x1"', '1'))
  await assert.rejects(history.readRevision('Things', 1), { code: 'TOOLKIT_HISTORY_DAMAGED' })
})

test('a revision of another number than its file says, or larger than any, is damaged or refused', async (context) => {
  const { kept, history } = await openHistory(context)
  const revision = {
    ...{ revision: 7, at: '2026-01-01T00:00:00.000Z', cause: 'edited', restores: null },
    ...{ query: null, sdl: null, lenses: [] },
  }
  await history.writeRevision('Things', revision)
  const folder = join(kept, 'views/Things')
  await writeFile(join(folder, '000008.json'), await readFile(join(folder, '000007.json')))
  const most = 8 * viewLimits.wire
  await writeFile(join(folder, '000009.json'), ' '.repeat(most))
  await writeFile(join(folder, '000010.json'), ' '.repeat(most + 1))
  const codeOf = (number: number): Promise<string> =>
    history.readRevision('Things', number).then(
      () => 'none',
      ({ code }) => code,
    )
  const codes = [await codeOf(7), await codeOf(8), await codeOf(9), await codeOf(10)]
  const damaged = 'TOOLKIT_HISTORY_DAMAGED'
  assert.deepEqual(codes, ['none', damaged, damaged, 'TOOLKIT_FILE_REFUSED'])
})

test('the revision of the working files is a number, and 0 where nothing says so', async (context) => {
  const { kept, history } = await openHistory(context)
  assert.equal(await history.readApplied('Things'), 0)
  await history.writeApplied('Things', 12)
  assert.equal(await history.readApplied('Things'), 12)
  const path = join(kept, 'views/Things/applied')
  for (const text of ['', '12', '-1\n', '1\n2\n', ' '.repeat(32)]) {
    await writeFile(path, text)
    assert.equal(await history.readApplied('Things'), 0, JSON.stringify(text))
  }
  await writeFile(path, ' '.repeat(33))
  await assert.rejects(history.readApplied('Things'), { code: 'TOOLKIT_FILE_REFUSED' })
})

test('a kept module that is not what its hash says is damaged, and replaced when it comes again', async (context) => {
  const { kept, history } = await openHistory(context)
  const hash = await history.keepModule(wasm(1))
  const path = join(kept, 'lenses', `${hash}.wasm`)
  const damaged = { code: 'TOOLKIT_HISTORY_DAMAGED', message: `${path} is damaged or missing` }
  assert.equal(hash, sha256(wasm(1)))
  assert.equal(await history.hasModule(hash), true)
  const { ino } = await stat(path)
  await history.keepModule(wasm(1))
  assert.equal((await stat(path)).ino, ino, 'it is not written again')
  await writeFile(path, wasm(2))
  assert.equal(await history.hasModule(hash), false)
  await assert.rejects(history.readModule(hash), damaged)
  await history.keepModule(wasm(1))
  assert.deepEqual(await history.readModule(hash), wasm(1))
  assert.equal(await history.hasModule(sha256(wasm(3))), false)
  await assert.rejects(history.readModule(sha256(wasm(3))), { code: 'TOOLKIT_HISTORY_DAMAGED' })
})

test('modules are kept as long as any revision of any View has them', async (context) => {
  const { kept, history } = await openHistory(context)
  const [first, second, third] = [
    await history.keepModule(wasm(1)),
    await history.keepModule(wasm(2)),
    await history.keepModule(wasm(3)),
  ]
  const write = (name: string, revision: number, ...hashes: string[]): Promise<void> =>
    history.writeRevision(name, {
      ...{ revision, at: '2026-01-01T00:00:00.000Z', cause: 'edited', restores: null },
      ...{ query: null, sdl: null },
      lenses: hashes.map((hash) => ({ label: 'a', args: null, sha256: hash, bytes: 9 })),
    })
  await write('Things', 1, first)
  await write('Others', 1, second)
  await write('Others', 2)
  await writeFile(join(kept, 'lenses', 'notes.wasm'), 'of somebody')
  await history.dropModules()
  const files = [`${first}.wasm`, `${second}.wasm`, 'notes.wasm']
  assert.deepEqual((await readdir(join(kept, 'lenses'))).toSorted(), files.toSorted())
  await history.remove('Others')
  assert.deepEqual(await readdir(join(kept, 'drafts')), [], 'what was moved away is removed')
  await history.dropModules()
  assert.deepEqual([await history.hasModule(first), await history.hasModule(second)], [true, false])
  assert.equal(await history.hasModule(third), false)
})

test('a View without a history has none to remove, and what cannot be removed is reported', async (context) => {
  const { history } = await openHistory(context)
  await history.remove('Things')
  await assert.rejects(history.remove('x'.repeat(300)), { code: 'ENAMETOOLONG' })
})

test('wire bytes are those of their content alone, and larger ones than a View has are not read', async (context) => {
  const { history } = await openHistory(context)
  const content = { query: 'Log { data }', sdl: null, lenses: [] }
  assert.equal(await history.readWire(content), null)
  const largest = new Uint8Array(viewLimits.wire)
  await history.keepWire(content, largest)
  assert.deepEqual(await history.readWire(content), largest)
  assert.equal(await history.readWire({ ...content, query: null, sdl: 'Log { data }' }), null)
  await history.keepWire(content, new Uint8Array(viewLimits.wire + 1))
  await assert.rejects(history.readWire(content), { code: 'TOOLKIT_FILE_REFUSED' })
})
