/** The Views of a folder: which are served, which are refused and why, and what a folder that fails changes. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import type { ViewsFolder } from '../../../src/host/folder/views-folder.ts'
import { maxViewFile, toViewFile, viewFileID } from '../../../src/views/view-file.ts'
import { viewIDs } from '../../../src/views/view-id.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { until } from '../../support/p2p-room.ts'
import { openFolderRoom, registrationOf, viewFileOf } from './support/folder-room.ts'
import { projectVolume } from './support/projected-volume.ts'

const put = async (path: string, { name, bytes }: ReturnType<typeof viewFileOf>): Promise<void> =>
  await writeFile(join(path, name), bytes)

test('Views come and go with their files, in a volume that changes as Kubernetes changes it', async (t) => {
  const room = await openFolderRoom(t)
  const [a, b, c] = ['A', 'B', 'C'].map((name) => viewFileOf(name))
  assert.ok(a && b && c)
  await projectVolume(room.path, [a, b])
  const folder = await room.open()
  await until(() => room.names().length === 2)
  await projectVolume(room.path, [b, c], () => until(() => !room.names().includes('A')))
  await until(() => room.names().join() === 'B,C')
  assert.deepEqual(
    room.views.list().map(({ origins, creator }) => [origins, BigInt(creator)]),
    [
      [['folder'], 0n],
      [['folder'], 0n],
    ],
  )
  await projectVolume(room.path, [])
  await until(() => room.names().length === 0)
  const { last_read: _, ...report } = folder.report() ?? {}
  assert.deepEqual(report, { problem: null, files: 0, served: 0, refused: 0, others: [] })
  assert.deepEqual(room.checked.toSorted(), ['A', 'B', 'C'])
})

test('a folder is read as soon as the Host starts, however seldom it is looked at then', async (t) => {
  const room = await openFolderRoom(t, { pollIntervalMs: 60_000 })
  await put(room.path, viewFileOf('A'))
  const folder = await room.open()
  await until(() => folder.report()?.last_read != null)
  assert.deepEqual(room.names(), ['A'])
})

test('a View that is posted and lies in the folder is one, and goes with the later of both', async (t) => {
  const room = await openFolderRoom(t)
  const file = viewFileOf('Both')
  const { report } = await room.views.register(registrationOf('Both'), 'posted')
  assert.equal(report.id, viewFileID(file.name))
  await put(room.path, file)
  await room.open()
  await until(() => room.views.find(report.id)?.origins.length === 2)
  await rm(join(room.path, file.name))
  await until(() => room.views.find(report.id)?.origins.join() === 'posted')
  await put(room.path, file)
  await until(() => room.views.find(report.id)?.origins.length === 2)
  await room.views.withdraw(report.id, 'posted')
  assert.deepEqual(room.names(), ['Both'])
  await rm(join(room.path, file.name))
  await until(() => room.names().length === 0)
})

test('what cannot be a View is named with its reason, and the others are served', async (t) => {
  const room = await openFolderRoom(t)
  const good = viewFileOf('Good')
  const other = viewFileOf('Other')
  const invalid = toViewFile({ sender: `0x${'1'.repeat(40)}`, wire: Buffer.from('VWL') })
  const huge = `0x${'a'.repeat(64)}.view`
  const pipe = `0x${'b'.repeat(64)}.view`
  const folder = `0x${'c'.repeat(64)}.view`
  const short = `0x${'d'.repeat(64)}.view`
  const wrong = `0x${'e'.repeat(64)}.view`
  const circle = `0x${'1'.repeat(64)}.view`
  await put(room.path, good)
  await put(room.path, invalid)
  await writeFile(join(room.path, huge), new Uint8Array(maxViewFile + 1))
  execFileSync('mkfifo', [join(room.path, pipe)])
  await mkdir(join(room.path, folder))
  await writeFile(join(room.path, short), 'short')
  await writeFile(join(room.path, wrong), other.bytes)
  await writeFile(join(room.path, 'mine.view'), other.bytes)
  await writeFile(join(room.path, 'README'), 'not looked at')
  await writeFile(join(room.path, '.hidden.view'), 'not looked at')
  await symlink('nowhere', join(room.path, `0x${'f'.repeat(64)}.view`))
  await symlink(circle, join(room.path, circle))
  const opened = await room.open()
  await until(() => opened.report()?.last_read != null)
  const { others = [], files, refused } = opened.report() ?? {}
  assert.deepEqual([room.names(), files, refused], [['Good'], 9, 8])
  const reasons = new Map(others.map(({ file, reason }) => [file, reason]))
  assert.match(String(reasons.get(invalid.name)), /^VIEWS_WIRE_MALFORMED: /)
  assert.match(String(reasons.get(huge)), /^VIEWS_TOO_LARGE: /)
  assert.match(String(reasons.get(pipe)), /^HOST_VIEW_FILE_UNREADABLE: .*no regular file$/)
  assert.match(String(reasons.get(folder)), /^HOST_VIEW_FILE_UNREADABLE: .*no regular file$/)
  assert.equal(reasons.get(circle), 'HOST_VIEW_FILE_UNREADABLE: it cannot be read: ELOOP')
  assert.match(String(reasons.get(short)), /^VIEWS_FILE_MALFORMED: .* 5 bytes/)
  assert.equal(
    reasons.get(wrong),
    `VIEWS_FILE_MALFORMED: its bytes are the View ${viewFileID(other.name)}`,
  )
  assert.equal(
    reasons.get('mine.view'),
    'VIEWS_FILE_MALFORMED: its name is not the long ID of a View',
  )
  const addresses = others.flatMap(({ file, address }) =>
    address === null ? [] : [[file, address]],
  )
  const { address } = viewIDs(`0x${'1'.repeat(40)}`, Buffer.from('VWL'))
  assert.deepEqual(addresses, [[invalid.name, address]])
  for (const failure of opened.failures()) assertExplained(failure)
  assert.deepEqual(
    new Set(opened.failures().map(({ code }) => code)),
    new Set(['HOST_VIEW_FILE_REFUSED']),
  )
  const metrics = String(await room.metrics.metrics())
  assert.match(metrics, /viewmesh_host_views_dir_refused_files 8\n/)
  assert.match(metrics, /viewmesh_host_views_dir_files 9\n/)
  assert.match(metrics, /viewmesh_host_views_dir_usable 1\n/)
  await rm(join(room.path, short))
  await until(() => opened.report()?.refused === 7)
})

test('a refused file is read again when it changes, and not before', async (t) => {
  const room = await openFolderRoom(t)
  const file = viewFileOf('Late')
  const half = file.bytes.subarray(0, file.bytes.length - 3)
  await put(room.path, { ...file, bytes: half })
  const folder = await room.open()
  await until(() => folder.report()?.refused === 1)
  const readings = new Set<unknown>()
  await until(() => readings.add(folder.report()?.last_read).size > 3)
  const warned = room.captured.messages('warn')
  assert.deepEqual(warned, ['file of a View not served'])
  assert.equal(room.rests(), 1, 'no thread is asked for where nothing is to be checked')
  const replace = async (bytes: Uint8Array): Promise<void> => {
    await put(room.path, { name: '.new', bytes })
    await rename(join(room.path, '.new'), join(room.path, file.name))
  }
  await replace(half)
  await until(() => room.rests() === 2)
  assert.equal(room.captured.messages('warn').length, 1, 'the same again is said once')
  for (const [index, name] of ['Other', 'Another'].entries()) {
    await replace(viewFileOf(name).bytes)
    await until(() => room.captured.messages('warn').length === 2 + index)
  }
  await put(room.path, file)
  await until(() => room.names().join() === 'Late')
  assert.deepEqual(folder.report()?.others, [])
})

test('beyond MAX_VIEWS nothing is checked, and what has no room comes when there is some', async (t) => {
  const room = await openFolderRoom(t, { maxViews: 3 })
  const files = Array.from({ length: 9 }, (_, index) => viewFileOf(`V${index}`))
  await projectVolume(room.path, files)
  const folder = await room.open()
  await until(() => folder.report()?.refused === 6)
  assert.equal(room.names().length, 3)
  assert.equal(room.checked.length, 4)
  for (const { reason } of folder.report()?.others ?? [])
    assert.equal(reason, 'HOST_VIEWS_FULL: the Host serves 3 Views, of at most 3')
  const served = new Set(room.views.list().map(({ id }) => id))
  const [gone] = files.filter(({ name }) => served.has(viewFileID(name) ?? ''))
  await projectVolume(
    room.path,
    files.filter((file) => file !== gone),
  )
  await until(() => folder.report()?.refused === 5 && room.names().length === 3)
  assert.equal(room.views.list().filter(({ id }) => served.has(id)).length, 2)
})

test('a file without room is served once another local View has gone, whatever is registered', async (t) => {
  const room = await openFolderRoom(t, { maxViews: 1 })
  const { report } = await room.views.register(registrationOf('Posted'), 'posted')
  await put(room.path, viewFileOf('Waits'))
  const folder = await room.open()
  await until(() => folder.report()?.refused === 1)
  const far = registrationOf('Far', 'Arbitrum__One__Log { address }')
  await room.views.register({ ...far, registeredAt: 7 }, 'registry')
  await room.views.withdraw(report.id, 'posted')
  await until(() => folder.report()?.served === 1)
  assert.deepEqual(room.names(), [null, 'Waits'])
})

interface NamedFile {
  /** The name of its type. */
  readonly name: string
  readonly file: ReturnType<typeof viewFileOf>
}

/** Views of these names in the order of their files. */
const inOrder = (names: readonly string[], query?: string): NamedFile[] =>
  names.map((name) => ({ name, file: viewFileOf(name, query) })).toSorted(byFile)
const byFile = (a: NamedFile, b: NamedFile): number => (a.file.name < b.file.name ? -1 : 1)

test('what was refused before is tried after what is new', async (t) => {
  const gate = Promise.withResolvers<void>()
  const room = await openFolderRoom(t, { onCheck: () => gate.promise })
  const [refused, first, second] = inOrder(['A', 'B', 'C'])
  assert.ok(refused && first && second)
  await writeFile(join(room.path, refused.file.name), 'short')
  const folder = await room.open()
  await until(() => folder.report()?.refused === 1)
  await put(room.path, first.file)
  await until(() => room.checked.length === 1)
  await put(room.path, refused.file)
  await put(room.path, second.file)
  gate.resolve()
  await until(() => room.names().length === 3)
  assert.deepEqual(
    room.checked,
    [first, second, refused].map(({ name }) => name),
  )
})

test('a folder that is closed ends with the View that is under way', async (t) => {
  const files = inOrder(['A', 'B', 'C'])
  const opened = Promise.withResolvers<ViewsFolder>()
  const closed = Promise.withResolvers<void>()
  const room = await openFolderRoom(t, {
    onCheck: async () => {
      const folder = await opened.promise
      void folder.close().then(closed.resolve)
    },
  })
  await projectVolume(
    room.path,
    files.map(({ file }) => file),
  )
  opened.resolve(await room.open())
  await closed.promise
  assert.deepEqual(
    room.names(),
    files.slice(0, 1).map(({ name }) => name),
  )
})

test('Views of other chains without room keep no later file from being served', async (t) => {
  const room = await openFolderRoom(t, { maxViews: 1 })
  const foreign = inOrder(['A', 'B'], 'Arbitrum__One__Log { address }')
  const own = inOrder(['C', 'D', 'E', 'F', 'G', 'H']).at(-1) ?? assert.fail()
  assert.ok(foreign.every((each) => byFile(each, own) < 0))
  await projectVolume(
    room.path,
    [...foreign, own].map(({ file }) => file),
  )
  const folder = await room.open()
  await until(() => folder.report()?.last_read != null)
  assert.deepEqual(
    room.views.list().map(({ type }) => type),
    [foreign[0]?.name, own.name],
  )
})

test('a store that cannot go on is said to the program, and is the fault of no file', async (t) => {
  const failure = new ServiceError('STORE_FULL', 'There is no space left')
  const fatal = Promise.withResolvers<unknown>()
  const room = await openFolderRoom(t, {
    onCheck: async () => {
      throw failure
    },
    onFatal: fatal.resolve,
  })
  await put(room.path, viewFileOf('A'))
  const folder = await room.open()
  assert.equal(await fatal.promise, failure)
  assert.equal(folder.report()?.refused, 0)
})

test('a View of another chain is here as foreign, and one name twice is two names', async (t) => {
  const room = await openFolderRoom(t)
  await put(room.path, viewFileOf('Far', 'Arbitrum__One__Log { address }'))
  await put(room.path, viewFileOf('Same'))
  await put(room.path, viewFileOf('Same', 'Log { address data }'))
  const folder = await room.open()
  await until(() => folder.report()?.served === 3)
  const byState = room.views.list().map(({ state, type, name }) => [state, type, name === type])
  assert.deepEqual(
    byState.toSorted((a, b) => String(a).localeCompare(String(b))),
    [
      ['foreign', 'Far', false],
      ['waiting', 'Same', false],
      ['waiting', 'Same', true],
    ],
  )
})

test('a folder that goes changes nothing but what is said, until it is back', async (t) => {
  const room = await openFolderRoom(t)
  const file = viewFileOf('Stays')
  await put(room.path, file)
  const folder = await room.open()
  await until(() => room.names().length === 1)
  const away = `${room.path}-away`
  t.after(() => rm(away, { recursive: true, force: true }))
  await rename(room.path, away)
  await until(() => folder.report()?.problem === 'ENOENT')
  assert.deepEqual(room.names(), ['Stays'])
  const warned = room.captured.messages('warn')
  assert.deepEqual(warned, ['folder of Views not readable, what was served stays'])
  const message = `HOST_VIEWS_DIR (${room.path}) cannot be read, there is no such folder; 1 Views that were served of it stay.`
  const remedy = 'Make the folder, empty where there are no Views, and let the program read it.'
  assert.deepEqual(folder.failures(), [{ code: 'HOST_VIEWS_DIR_UNREADABLE', message, remedy }])
  for (const failure of folder.failures()) assertExplained(failure)
  assert.match(String(await room.metrics.metrics()), /viewmesh_host_views_dir_usable 0\n/)
  await rename(away, room.path)
  await until(() => folder.report()?.problem === null)
  await rm(join(room.path, file.name))
  await until(() => room.names().length === 0)
  assert.deepEqual(folder.failures(), [])
})

test('a folder with too many files changes nothing', async (t) => {
  const room = await openFolderRoom(t)
  await put(room.path, viewFileOf('Stays'))
  const folder = await room.open()
  await until(() => room.names().length === 1)
  for (let index = 0; index < 2_000; index += 1) await writeFile(join(room.path, `${index}`), '')
  await until(() => folder.report()?.problem === 'it has more than 2000 files')
  await rm(join(room.path, viewFileOf('Stays').name))
  assert.equal((await readdir(room.path)).length, 2_000)
  await until(() => room.names().length === 0)
})

test('without HOST_VIEWS_DIR the Views of a folder before end, and others stay', async (t) => {
  const room = await openFolderRoom(t)
  await put(room.path, viewFileOf('Folder'))
  await room.views.register(registrationOf('Posted'), 'posted')
  const folder = await room.open()
  await until(() => room.names().length === 2)
  await folder.close()
  const none = await room.open(null)
  assert.deepEqual([room.names(), none.report(), none.failures()], [['Posted'], null, []])
  assert.doesNotMatch(await room.metrics.metrics(), /^viewmesh_host_views_dir_\w+ /m)
})
