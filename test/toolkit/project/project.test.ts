import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chown, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import type { Deployment } from '../../../src/toolkit/project/deployments.ts'
import { initProject, openProject } from '../../../src/toolkit/project/project.ts'
import type { ProjectView } from '../../../src/toolkit/project/project-view.ts'
import { viewIDs } from '../../../src/views/view-id.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { draft, openTestProject, wasm } from '../support/test-project.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

/** Content alone: a module may come back under another file name, as none is written over. */
function withoutPaths(view: ProjectView): object {
  return { ...view, lenses: view.lenses.map((lens) => ({ ...lens, path: '' })) }
}

test('a View is the files that people edit, and its module lies among the lenses', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  const folder = join(project.folder, 'views/Things')
  assert.deepEqual((await readdir(folder)).sort(), ['query.graphql', 'schema.graphql', 'view.yaml'])
  assert.equal(await readFile(join(folder, 'query.graphql'), 'utf8'), 'Log { address }\n')
  assert.deepEqual(await readdir(join(project.folder, 'lenses')), ['Things.first.wasm'])
  assert.deepEqual(await project.load('Things'), {
    ...{ name: 'Things', revision: 1, query: 'Log { address }' },
    sdl: 'type Thing { address: String }',
    lenses: [
      {
        ...{ label: 'first', args: { src: 'address' }, wasm: wasm(1) },
        path: join(project.folder, 'lenses/Things.first.wasm'),
      },
    ],
  })
})

test('an edited file is the next revision, once', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  await writeFile(join(project.folder, 'views/Things/query.graphql'), 'Log { data }\n')
  assert.equal((await project.load('Things')).revision, 2)
  assert.equal((await project.load('Things')).revision, 2)
  await writeFile(join(project.folder, 'lenses/Things.first.wasm'), wasm(9))
  assert.equal((await project.load('Things')).revision, 3)
  const revisions = await project.revisions('Things')
  assert.deepEqual(
    revisions.map(({ revision, cause }) => [revision, cause]),
    [
      [1, 'create'],
      [2, 'edited'],
      [3, 'edited'],
    ],
  )
})

test('a file of a View that is larger than any View may be is not read', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  const path = join(project.folder, 'views/Things/query.graphql')
  await writeFile(path, '#'.repeat(512 * 1024))
  await project.load('Things')
  await writeFile(path, '#'.repeat(512 * 1024 + 1))
  await assert.rejects(project.load('Things'), {
    code: 'TOOLKIT_FILE_REFUSED',
    message: 'views/Things/query.graphql has 524289 bytes, and may have 524288',
  })
})

test('a View that was copied into the project has revision 1 when it is first read', async (context) => {
  const project = await openTestProject(context)
  const folder = join(project.folder, 'views/Copied')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'view.yaml'), '')
  await writeFile(join(folder, 'query.graphql'), 'Log { data }')
  const { revision, query, sdl } = await project.load('Copied')
  assert.deepEqual([revision, query, sdl], [1, 'Log { data }', null])
})

test('rollback restores whole states, removed lenses included, twice in a row', async (context) => {
  const project = await openTestProject(context)
  const first = await project.create('Things', draft(), 'create')
  const other = draft({ query: 'Log { data }', lenses: [] })
  const second = await project.change('Things', 'remove lens first', () => other)
  const third = await project.change('Things', 'add lens first', () =>
    draft({ lenses: [{ label: 'first', args: null, wasm: wasm(2) }] }),
  )
  assert.deepEqual([first.revision, second.revision, third.revision], [1, 2, 3])
  const back = await project.rollback('Things', null)
  assert.deepEqual(back, { view: { ...second, revision: 4 }, restored: 2 })
  const further = await project.rollback('Things', null)
  assert.deepEqual(further, { view: { ...first, revision: 5 }, restored: 1 })
  await assert.rejects(project.rollback('Things', null), {
    code: 'TOOLKIT_REVISION_MISSING',
    message: "view 'Things' has no version before this one",
  })
  const forward = await project.rollback('Things', 3)
  assert.deepEqual(withoutPaths(forward.view), withoutPaths({ ...third, revision: 6 }))
  await assert.rejects(project.rollback('Things', 99), {
    message: 'rollback failed: version 99 not found',
  })
})

test('wire bytes are made once, and are those of the same content after a rollback', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  const { wire } = await project.wire('Things')
  await project.change('Things', 'add sdl', () => draft({ sdl: 'type Other { a: Int }' }))
  const other = await project.wire('Things')
  assert.notDeepEqual(other.wire, wire)
  await project.rollback('Things', null)
  const again = await project.wire('Things')
  assert.deepEqual([again.revision, again.wire], [3, wire])
  const wires = join(project.folder, '.viewmesh/wires')
  const files = await readdir(wires)
  assert.equal(files.length, 2)
  const sender = `0x${'1'.repeat(40)}`
  for (const file of files) await writeFile(join(wires, file), 'other bytes')
  await project.wire('Things')
  assert.equal(viewIDs(sender, (await project.wire('Things')).wire).id, viewIDs(sender, wire).id)
})

test('wire bytes that another version made of the same content are used: the ID stays', async (context) => {
  const project = await openTestProject(context)
  const [first = assert.fail()] = draft().lenses
  const lenses = [first, { ...first, label: 'second' }]
  await project.create('Things', draft({ lenses }), 'create')
  const { view } = await project.wire('Things')
  const [file = ''] = await readdir(join(project.folder, '.viewmesh/wires'))
  const kept = join(project.folder, '.viewmesh/wires', file)
  await writeFile(kept, encodeView(view, 'none'))
  assert.deepEqual((await project.wire('Things')).wire, encodeView(view, 'none'))
  for (const other of [
    { ...view, query: 'Log { data }' },
    { ...view, sdl: 'type Other { a: Int }' },
    { ...view, lenses: [] },
    { ...view, lenses: [...view.lenses, ...view.lenses] },
    { ...view, lenses: view.lenses.with(1, { args: '{"src":"data"}', wasm: wasm(1) }) },
    { ...view, lenses: view.lenses.with(1, { args: '{"src":"address"}', wasm: wasm(2) }) },
  ]) {
    await writeFile(kept, encodeView(other))
    assert.deepEqual((await project.wire('Things')).wire, encodeView(view))
  }
})

test('a View without a query or an SDL has no wire bytes, and says how to add one', async (context) => {
  const project = await openTestProject(context)
  for (const [part, shown] of [
    ['query', 'query'],
    ['sdl', 'SDL'],
  ] as const) {
    await project.create(shown, draft({ [part]: null }), 'init')
    await assert.rejects(project.wire(shown), {
      code: 'TOOLKIT_VIEW_INCOMPLETE',
      message: `view '${shown}' has no ${shown} yet`,
      remedy: `Add one: viewmesh view add ${part} '...' --name ${shown}`,
    })
  }
})

for (const name of ['..', '.', '', 'a/b', '../x', 'a.b', '-x', '~', 'a\0b', 'x'.repeat(65)])
  test(`the name ${JSON.stringify(name).slice(0, 20)} is refused before any file is touched`, async (context) => {
    const project = await openTestProject(context)
    const wanted = { code: 'TOOLKIT_USAGE_INVALID', message: /cannot be the name of a View$/ }
    await assert.rejects(project.create(name, draft(), 'create'), wanted)
    await assert.rejects(project.delete(name), wanted)
    await assert.rejects(project.load(name), wanted)
    assert.deepEqual(await project.names(), [])
  })

test('links out of the project bring no file of the machine into a View', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft({ lenses: [] }), 'create')
  const secret = join(project.folder, '..', 'secret')
  await writeFile(secret, 'Log { address }')
  await symlink(secret, join(project.folder, 'link'))
  const yaml = join(project.folder, 'views/Things/view.yaml')
  for (const file of ['link', '../secret', secret]) {
    await writeFile(yaml, `lenses: [{ label: x, file: ${JSON.stringify(file)} }]`)
    await assert.rejects(project.load('Things'), {
      code: 'TOOLKIT_FILE_REFUSED',
      message: / leads out of the project$/,
    })
  }
})

test('a pipe or a folder in place of a file is refused, and nobody waits for its writer', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft({ lenses: [] }), 'create')
  for (const file of ['view.yaml', 'query.graphql', 'schema.graphql']) {
    const path = join(project.folder, 'views/Things', file)
    const text = await readFile(path)
    for (const make of ['mkfifo', 'mkdir']) {
      await rm(path)
      execFileSync(make, [path])
      await assert.rejects(project.load('Things'), {
        code: 'TOOLKIT_FILE_REFUSED',
        message: `views/Things/${file} is not a file`,
      })
      await rm(path, { recursive: true })
      await writeFile(path, text)
    }
  }
})

for (const [link, target] of [
  ['.viewmesh/lenses', 'outside'],
  ['.viewmesh/drafts', 'outside'],
  ['.viewmesh/lock', 'outside/made'],
  ['lenses', 'outside'],
] as const)
  test(`deleting a View through the link ${link} out of the project removes and makes nothing there`, async (context) => {
    const project = await openTestProject(context)
    await project.create('Things', draft({ lenses: [] }), 'create')
    const outside = join(project.folder, '..', 'outside')
    await mkdir(outside)
    const kept = ['id_ed25519', `${'a'.repeat(64)}.wasm`, 'Things.first.wasm']
    for (const file of kept) await writeFile(join(outside, file), wasm(1))
    await rm(join(project.folder, link), { recursive: true, force: true })
    await symlink(join(project.folder, '..', target), join(project.folder, link))
    const deleted = project.delete('Things')
    // Drafts are removed first: of a link, that is the link.
    if (link === '.viewmesh/drafts') await deleted
    else await assert.rejects(deleted, { code: 'TOOLKIT_FILE_REFUSED' })
    assert.deepEqual((await readdir(outside)).sort(), kept.toSorted())
  })

for (const link of ['views', '.viewmesh/views'])
  test(`deleting a View whose folder in ${link} lies outside of the project leaves that there`, async (context) => {
    const project = await openTestProject(context)
    await project.create('Things', draft(), 'create')
    const outside = join(project.folder, '..', 'outside')
    await rename(join(project.folder, link), outside)
    await symlink(outside, join(project.folder, link))
    const before = await readdir(join(outside, 'Things'))
    await assert.rejects(project.delete('Things'), {
      code: 'TOOLKIT_FILE_REFUSED',
      message: `${link} leads out of the project`,
    })
    assert.deepEqual(await readdir(join(outside, 'Things')), before)
  })

test('a project is made once, and what its author wrote into its file stays', async (context) => {
  const { cwd, homeFolder } = await openTestTerminal(context)
  const terminal = { cwd, homeFolder, signal: new AbortController().signal } as Terminal
  assert.equal(await initProject(terminal), true)
  const file = join(cwd, 'viewmesh.yaml')
  await writeFile(file, 'version: 1 # mine\n')
  assert.equal(await initProject(terminal), false)
  assert.equal(await readFile(file, 'utf8'), 'version: 1 # mine\n')
})

test('a link out of the project has no folder made behind it', async (context) => {
  const project = await openTestProject(context)
  const outside = join(project.folder, '..', 'outside')
  await mkdir(outside)
  await symlink(outside, join(project.folder, '.viewmesh/views'))
  const refused = { code: 'TOOLKIT_FILE_REFUSED', message: /^\.viewmesh\/views leads out of/ }
  await assert.rejects(project.create('Things', draft(), 'create'), refused)
  assert.deepEqual(await readdir(outside), [])
})

test('a lock that is a database with content is refused, as its journal may name any file', async (context) => {
  const project = await openTestProject(context)
  const path = join(project.folder, '.viewmesh/lock')
  const refused = {
    code: 'TOOLKIT_FILE_REFUSED',
    message: '.viewmesh/lock is not an empty file',
  }
  await writeFile(path, 'SQLite format 3')
  await assert.rejects(project.create('Things', draft(), 'create'), refused)
  await writeFile(path, 'S')
  await assert.rejects(project.create('Things', draft(), 'create'), refused)
  await rm(path)
  execFileSync('mkfifo', [path])
  await assert.rejects(project.create('Things', draft(), 'create'), refused)
})

const isRoot = process.getuid?.() === 0
test('a project file of another user is refused, since it would capture every folder below it', {
  skip: !isRoot && 'only root can give a file away',
}, async (context) => {
  const { cwd, homeFolder } = await openTestTerminal(context)
  const terminal = { cwd, homeFolder, signal: new AbortController().signal } as Terminal
  await initProject(terminal)
  await chown(join(cwd, 'viewmesh.yaml'), 65_534, 65_534)
  await assert.rejects(openProject(terminal), {
    code: 'TOOLKIT_PROJECT_UNREADABLE',
    message: `${join(cwd, 'viewmesh.yaml')} belongs to another user`,
  })
})

test('what is no kept module stays when the modules of a deleted View are removed', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  await writeFile(join(project.folder, '.viewmesh/lenses/notes.txt'), 'of somebody')
  await project.delete('Things')
  assert.deepEqual(await readdir(join(project.folder, '.viewmesh/lenses')), ['notes.txt'])
})

test('Views are listed by name, and folders without one or of another name are not', async (context) => {
  const project = await openTestProject(context)
  const names = ['Things', 'Another', 'Zoo', 'Bees', 'Mills']
  for (const name of names) await project.create(name, draft(), 'create')
  const folderOf = (name: string): string => join(project.folder, 'views', name)
  for (const name of ['Notes', 'not a name']) await mkdir(folderOf(name))
  await writeFile(join(folderOf('not a name'), 'view.yaml'), 'lenses: []\n')
  assert.deepEqual(await project.names(), names.toSorted())
})

test('a View whose name differs from that of another in case alone is not made', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  for (const name of ['things', 'THINGS', 'Things'])
    await assert.rejects(project.create(name, draft(), 'create'), {
      code: 'TOOLKIT_VIEW_EXISTS',
      message: "view 'Things' already exists",
    })
  assert.deepEqual(await project.names(), ['Things'])
})

test('a label in the history that would lead out of a path is refused', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  const path = join(project.folder, '.viewmesh/views/Things/000001.json')
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace('"first"', '"../../../first"'))
  await assert.rejects(project.load('Things'), { code: 'TOOLKIT_HISTORY_DAMAGED' })
})

test('deleting a View removes its folder, its history and the modules that only it had', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  await project.create('Others', draft({ lenses: [{ label: 'b', args: null, wasm: wasm(2) }] }), '')
  await project.delete('Things')
  assert.deepEqual(await project.names(), ['Others'])
  assert.deepEqual(await readdir(join(project.folder, 'lenses')), ['Others.b.wasm'])
  assert.equal((await readdir(join(project.folder, '.viewmesh/lenses'))).length, 1)
  await assert.rejects(project.load('Otters'), {
    message: "view 'Otters' does not exist; did you mean Others?",
  })
})

test('deployments are kept in the order of time, and one that is made again replaces the former', async (context) => {
  const project = await openTestProject(context)
  const deployment: Deployment = {
    ...{ view: 'Things', revision: 1, at: '2026-01-01T00:00:00.000Z' },
    target: 'local',
    ...{ id: `0x${'1'.repeat(64)}`, address: `0x${'2'.repeat(40)}` },
    ...{ creator: `0x${'3'.repeat(40)}`, endpoint: 'http://127.0.0.1:9181' },
    ...{ transaction: null, chainId: null },
    state: 'registered',
  }
  const of = (revision: number): Deployment => ({
    ...deployment,
    ...{ revision, id: `0x${`${revision}`.repeat(64)}` },
  })
  await Promise.all([1, 2, 3].map((revision) => project.addDeployment(of(revision))))
  const revisions = (await project.deployments()).map(({ revision }) => revision)
  assert.deepEqual(revisions.toSorted(), [1, 2, 3])
  const again = { ...of(1), at: '2026-01-02T00:00:00.000Z' }
  await project.addDeployment(again)
  const all = await project.deployments()
  assert.equal(all.length, 3)
  assert.deepEqual(all.at(-1), again)
  const text = await readFile(join(project.folder, 'deployments.json'), 'utf8')
  assert.match(text, /^\{\n {2}"deployments": \[\n {4}\{\n {6}"view": "Things",\n/)
})
