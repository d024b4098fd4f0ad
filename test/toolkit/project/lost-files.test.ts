/** What `view rollback` writes again of a View whose files cannot be read. */
import assert from 'node:assert/strict'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { draft, openTestProject, wasm } from '../support/test-project.ts'

const labels = ['first', 'second', 'third']

/** A View with three lenses, the second of which a folder of the project's own has. */
async function openLost(context: TestContext) {
  const project = await openTestProject(context)
  const { folder } = project
  const built = join(folder, 'lenses/mine/second.wasm')
  await mkdir(join(folder, 'lenses/mine'), { recursive: true })
  await writeFile(built, wasm(2))
  const lenses = labels.map((label, index) => ({
    ...{ label, args: null, wasm: wasm(index + 1) },
    ...(label === 'second' && { path: built }),
  }))
  const made = await project.create('Things', draft({ lenses }), 'create')
  return { project, folder, made, of: (file: string) => join(folder, 'views/Things', file) }
}

test('a View is made with a lens that lies in the project where that lies', async (context) => {
  const { folder, made } = await openLost(context)
  const files = ['Things.first.wasm', 'mine/second.wasm', 'Things.third.wasm']
  assert.deepEqual(
    made.lenses.map(({ path }) => path),
    files.map((file) => join(folder, 'lenses', file)),
  )
})

test('all lost modules are written again where they were, and no revision is made', async (context) => {
  const { project, folder, made } = await openLost(context)
  await rm(join(folder, 'lenses'), { recursive: true })
  assert.deepEqual(await project.rollback('Things', null), { view: made, restored: 1 })
})

test('a lost module is written again, and a lens that was edited meanwhile stays so', async (context) => {
  const { project, folder } = await openLost(context)
  await writeFile(join(folder, 'lenses/Things.first.wasm'), wasm(9))
  await rm(join(folder, 'lenses/Things.third.wasm'))
  const { view, restored } = await project.rollback('Things', null)
  assert.deepEqual([restored, view.revision], [2, 2])
  assert.deepEqual(
    view.lenses.map((lens) => lens.wasm),
    [9, 2, 3].map(wasm),
  )
})

for (const file of ['query.graphql', 'schema.graphql'])
  test(`a link in place of ${file} is replaced by the text, and what it leads to stays`, async (context) => {
    const { project, folder, made, of } = await openLost(context)
    const outside = join(folder, '..', 'outside')
    await writeFile(outside, 'of somebody')
    await rm(of(file))
    await symlink(outside, of(file))
    assert.deepEqual(await project.rollback('Things', null), { view: made, restored: 1 })
    assert.equal(await readFile(outside, 'utf8'), 'of somebody')
  })

test('lost modules alone are put back, of a View without versions none', async (context) => {
  const { project, folder, made } = await openLost(context)
  await rm(join(folder, 'lenses/Things.third.wasm'))
  await project.putBackLenses('Things')
  assert.deepEqual(await project.load('Things'), made)
  await rm(join(folder, '.viewmesh/views'), { recursive: true })
  await rm(join(folder, 'lenses/Things.third.wasm'))
  await project.putBackLenses('Things')
  await assert.rejects(project.load('Things'), { code: 'TOOLKIT_LENS_MISSING' })
})

test('a given version is brought back where a file had to be written again before', async (context) => {
  const { project, made, of } = await openLost(context)
  await project.change('Things', 'change', () => draft({ query: 'Log { data }', lenses: [] }))
  await rm(of('query.graphql'))
  await symlink('/dev/null', of('query.graphql'))
  const { view, restored } = await project.rollback('Things', 1)
  assert.deepEqual([restored, view.revision, view.query], [1, 3, made.query])
  assert.deepEqual(
    view.lenses.map((lens) => lens.wasm),
    [1, 2, 3].map(wasm),
  )
})

test('a text that no revision has is empty when it is written again', async (context) => {
  const project = await openTestProject(context)
  const made = await project.create('Things', draft({ query: null }), 'create')
  const path = join(project.folder, 'views/Things/query.graphql')
  await rm(path)
  await symlink('/dev/null', path)
  assert.deepEqual(await project.rollback('Things', null), { view: made, restored: 1 })
  assert.equal(await readFile(path, 'utf8'), '')
})

test('where a lens is lost that no revision has, the lenses are those of the last again', async (context) => {
  const { project, folder, made, of } = await openLost(context)
  const yaml = await readFile(of('view.yaml'), 'utf8')
  await writeFile(of('view.yaml'), `${yaml}  - label: fourth\n    file: lenses/fourth.wasm\n`)
  await rm(join(folder, 'lenses/Things.third.wasm'))
  await assert.rejects(project.load('Things'), { code: 'TOOLKIT_LENS_MISSING' })
  assert.deepEqual(await project.rollback('Things', null), { view: made, restored: 1 })
})

test('where a lens leads out of the project, it comes from the last revision, others stay', async (context) => {
  const { project, folder, made } = await openLost(context)
  const outside = join(folder, '..', 'outside.wasm')
  const third = join(folder, 'lenses/Things.third.wasm')
  await writeFile(outside, wasm(9))
  await rm(third)
  await symlink(outside, third)
  const { view, restored } = await project.rollback('Things', null)
  const paths = view.lenses.map(({ path }) => path)
  assert.deepEqual([restored, view.revision], [1, 1])
  assert.deepEqual(
    view.lenses.map((lens) => lens.wasm),
    [1, 2, 3].map(wasm),
  )
  assert.deepEqual(
    paths.slice(0, 2),
    made.lenses.slice(0, 2).map(({ path }) => path),
  )
  assert.match(`${paths[2]}`, /\/lenses\/Things\.third\.[0-9a-f]{16}\.wasm$/)
  assert.deepEqual(new Uint8Array(await readFile(outside)), wasm(9))
})

test('a lens whose file cannot be written where it is listed is placed among the lenses', async (context) => {
  const { project, folder, made, of } = await openLost(context)
  const yaml = await readFile(of('view.yaml'), 'utf8')
  await writeFile(of('view.yaml'), yaml.replace('lenses/Things.third', 'viewmesh.yaml/third'))
  const lost = { message: 'the lens third has no file viewmesh.yaml/third.wasm' }
  await assert.rejects(project.load('Things'), lost)
  const { view } = await project.rollback('Things', null)
  assert.deepEqual(view, made)
  assert.equal(await readFile(join(folder, 'viewmesh.yaml'), 'utf8').then(Boolean), true)
})
