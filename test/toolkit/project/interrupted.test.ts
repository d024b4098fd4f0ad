/** Changes that a kill interrupted, put together file by file: what comes next finishes them. */
import assert from 'node:assert/strict'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Project } from '../../../src/toolkit/project/project.ts'
import { draft, openTestProject, wasm } from '../support/test-project.ts'

const changed = draft({
  query: 'Log { data }',
  sdl: 'type Thing { data: String }',
  lenses: [{ label: 'second', args: null, wasm: wasm(2) }],
})

/** A View with two revisions, whose files are those of the first. */
async function openInterrupted(context: TestContext) {
  const project = await openTestProject(context)
  const { folder } = project
  await project.create('Things', draft(), 'create')
  const copy = join(folder, '..', 'copy')
  await cp(folder, copy, { recursive: true })
  const wanted = await project.change('Things', 'change', () => changed)
  for (const part of ['views', 'lenses']) {
    await rm(join(folder, part), { recursive: true })
    await cp(join(copy, part), join(folder, part), { recursive: true })
  }
  await writeFile(join(folder, '.viewmesh/views/Things/applied'), '1\n')
  return { project, folder, wanted, of: (file: string) => join(folder, 'views/Things', file) }
}

/** What made each revision. */
async function causesOf(project: Project): Promise<readonly string[]> {
  return (await project.revisions('Things')).map(({ cause }) => cause)
}

test('a change that was kept before a kill is brought to all files by the next command', async (context) => {
  const { project, folder, wanted, of } = await openInterrupted(context)
  assert.deepEqual(await project.load('Things'), wanted)
  assert.equal(await readFile(of('query.graphql'), 'utf8'), 'Log { data }\n')
  assert.deepEqual(await readdir(join(folder, 'lenses')), ['Things.second.wasm'])
  assert.deepEqual(await causesOf(project), ['create', 'change'])
})

test('a text that was edited after a kill stays, and the rest is brought to the change', async (context) => {
  const { project, wanted, of } = await openInterrupted(context)
  await writeFile(of('query.graphql'), 'Log { topics }')
  const expected = { ...wanted, revision: 3, query: 'Log { topics }' }
  assert.deepEqual(await project.load('Things'), expected)
  assert.deepEqual(await causesOf(project), ['create', 'change', 'edited'])
})

test('lenses that were edited after a kill stay, and the texts are brought to the change', async (context) => {
  const { project, folder, wanted, of } = await openInterrupted(context)
  await writeFile(of('view.yaml'), 'lenses: []\n')
  assert.deepEqual(await project.load('Things'), { ...wanted, revision: 3, lenses: [] })
  assert.deepEqual(await readdir(join(folder, 'lenses')), ['Things.first.wasm'])
})

test('lenses that cannot be read after a kill are left to their author', async (context) => {
  const { project, folder, wanted, of } = await openInterrupted(context)
  await writeFile(of('view.yaml'), 'lenses: 3\n')
  await assert.rejects(project.load('Things'), {
    code: 'TOOLKIT_VIEW_UNREADABLE',
    message: 'views/Things/view.yaml has lenses that are not a list',
  })
  const applied = join(folder, '.viewmesh/views/Things/applied')
  assert.equal(await readFile(applied, 'utf8'), '2\n', 'nothing else is left to be done')
  assert.equal(await readFile(of('view.yaml'), 'utf8'), 'lenses: 3\n')
  assert.equal(await readFile(of('schema.graphql'), 'utf8'), `${wanted.sdl}\n`)
})

test('a View that was made before a kill is its first revision, whatever says how far it came', async (context) => {
  const project = await openTestProject(context)
  const made = await project.create('Things', draft(), 'create')
  const applied = join(project.folder, '.viewmesh/views/Things/applied')
  for (const text of ['', '1', 'x1\n']) {
    await writeFile(applied, text)
    assert.deepEqual(await project.load('Things'), made)
    assert.equal(await readFile(applied, 'utf8'), '1\n')
  }
  assert.deepEqual(await causesOf(project), ['create'])
})

test('what a killed command was writing is removed by the next that changes something', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  const drafts = join(project.folder, '.viewmesh/drafts')
  await writeFile(join(drafts, 'half'), 'Log {')
  await project.load('Things')
  assert.deepEqual(await readdir(drafts), ['half'])
  await project.change('Things', 'change', () => changed)
  assert.deepEqual(await readdir(drafts), [])
})

test('a View is read without the lock while its files are those of its last revision', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  await writeFile(join(project.folder, 'views/Things/query.graphql'), 'Log { topics }')
  const edited = await project.load('Things')
  assert.equal(edited.revision, 2)
  await writeFile(join(project.folder, '.viewmesh/lock'), 'nobody gets it')
  assert.deepEqual(await project.load('Things'), edited)
  await writeFile(join(project.folder, 'views/Things/query.graphql'), 'Log { data }')
  await assert.rejects(project.load('Things'), { code: 'TOOLKIT_FILE_REFUSED' })
})
