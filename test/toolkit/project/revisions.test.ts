/** Which changes make a revision, and what is in it. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Project } from '../../../src/toolkit/project/project.ts'
import { draft, openTestProject, wasm } from '../support/test-project.ts'

/** Each revision with what made it and what it brought back. */
async function revisionsOf(project: Project): Promise<readonly unknown[]> {
  const revisions = await project.revisions('Things')
  return revisions.map(({ revision, cause, restores }) => [revision, cause, restores])
}

test('a change to what a View is already makes no revision, nor do spaces around a text', async (context) => {
  const project = await openTestProject(context)
  const made = await project.create('Things', draft({ sdl: ' \n' }), 'create')
  assert.equal(made.sdl, null)
  const same = draft({ query: ' Log { address }\n', sdl: null })
  assert.deepEqual(await project.change('Things', 'change', () => same), made)
  assert.deepEqual(await revisionsOf(project), [[1, 'create', null]])
  const args = { lenses: [{ label: 'first', args: { src: 'data' }, wasm: wasm(1) }] }
  const changed = await project.change('Things', 'change', () => ({ ...same, ...args }))
  assert.equal(changed.revision, 2)
})

test('a change leaves the files of parts that stay as their author wrote them', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  const of = (file: string): string => join(project.folder, 'views/Things', file)
  const query = '\n  Log { address }\n\n'
  const yaml = `# of the author\n${await readFile(of('view.yaml'), 'utf8')}`
  await writeFile(of('query.graphql'), query)
  await writeFile(of('view.yaml'), yaml)
  await project.change('Things', 'change', () => draft({ sdl: 'type Other { a: Int }' }))
  const files = ['query.graphql', 'schema.graphql', 'view.yaml'].map(of)
  assert.deepEqual(await Promise.all(files.map((file) => readFile(file, 'utf8'))), [
    query,
    'type Other { a: Int }\n',
    yaml,
  ])
})

test('a rollback to a rollback brings back the same content, and the next one goes before that', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  for (const field of ['data', 'topics'])
    await project.change('Things', field, () => draft({ query: `Log { ${field} }` }))
  const queries: unknown[] = []
  for (const wanted of [2, 4, 5, null]) {
    const { view } = await project.rollback('Things', wanted)
    queries.push(view.query)
  }
  assert.deepEqual(queries, ['Log { data }', 'Log { data }', 'Log { data }', 'Log { address }'])
  assert.deepEqual((await revisionsOf(project)).slice(3), [
    [4, 'rollback to 2', 2],
    [5, 'rollback to 4', 2],
    [6, 'rollback to 5', 2],
    [7, 'rollback to 1', 1],
  ])
})

test('a View whose folder was removed by hand leaves no revision to the next of its name', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  await project.change('Things', 'change', () => draft({ query: 'Log { data }' }))
  await rm(join(project.folder, 'views/Things'), { recursive: true })
  await project.create('Things', draft(), 'create again')
  assert.deepEqual(await revisionsOf(project), [[1, 'create again', null]])
  assert.deepEqual(await project.names(), ['Things'])
})

test('a View that was copied into the project says that it was found', async (context) => {
  const project = await openTestProject(context)
  await mkdir(join(project.folder, 'views/Things'), { recursive: true })
  await writeFile(join(project.folder, 'views/Things/view.yaml'), '')
  await project.load('Things')
  assert.deepEqual(await revisionsOf(project), [[1, 'found', null]])
})

test('a removed lens takes its module along, and no other file among the lenses', async (context) => {
  const project = await openTestProject(context)
  const folder = join(project.folder, 'lenses')
  const [first, twin] = ['first', 'twin'].map((label) => ({ label, args: null, wasm: wasm(1) }))
  assert.ok(first && twin)
  await project.create('Things', draft({ lenses: [first, twin] }), 'create')
  assert.deepEqual(await readdir(folder), ['Things.first.wasm', 'Things.twin.wasm'])
  const own = ['Other.first.wasm', 'Things.first.txt', 'Things.own.wasm', 'Thingsfirst.wasm']
  for (const file of own) await writeFile(join(folder, file), wasm(/own/.test(file) ? 9 : 1))
  await project.change('Things', 'remove', () => draft({ lenses: [twin] }))
  assert.deepEqual((await readdir(folder)).sort(), [...own, 'Things.twin.wasm'].sort())
  await project.delete('Things')
  assert.deepEqual((await readdir(folder)).sort(), own)
})
