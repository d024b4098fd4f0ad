import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openLineFile } from '../../../src/service/settings/line-file.ts'
import { integerBetween } from '../../../src/service/settings/setting-kinds.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'

const folder = await mkdtemp(join(tmpdir(), 'viewmesh-lines-'))
after(() => rm(folder, { recursive: true }))

interface Followed extends CapturedLog {
  readonly problem: () => string | null
  readonly values: () => readonly number[]
  /** The next list that `onChange` is called with. */
  readonly next: () => Promise<readonly number[]>
}

async function follow(path: string): Promise<Followed> {
  const captured = captureLog()
  let change = Promise.withResolvers<readonly number[]>()
  const file = await openLineFile(
    { path, setting: 'NUMBERS_FILE', kind: integerBetween(1, 9), pollIntervalMs: 5 },
    {
      log: captured.log,
      onChange(values) {
        change.resolve(values)
        change = Promise.withResolvers()
      },
    },
  )
  after(() => file.close())
  return { ...captured, values: file.values, problem: file.problem, next: () => change.promise }
}

/** Whoever reads meanwhile sees the old text or the new one, and no part. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.next`, text)
  await rename(`${path}.next`, path)
}

test('each line is a value; blank lines, comments and blanks around are skipped', async () => {
  const path = join(folder, 'plain')
  await writeFile(path, '# numbers\n1\r\n\n  2  \n')
  assert.deepEqual((await follow(path)).values(), [1, 2])
})

test('a line that is no value is logged with its number and what is accepted, the others count', async () => {
  const path = join(folder, 'bad')
  await writeFile(path, '1\nten\n3\n')
  const { values, lines } = await follow(path)
  assert.deepEqual(values(), [1, 3])
  const { level, msg, ...facts } = lines[0] ?? { level: '', msg: '' }
  assert.equal(`${level}: ${msg}`, 'warn: line skipped')
  assert.equal(facts['line'], 2)
  assert.equal(facts['found'], 'ten')
  assert.equal(facts['accepted'], 'a whole number from 1 to 9')
})

test('a changed file is read again', async () => {
  const path = join(folder, 'changed')
  await writeFile(path, '1\n')
  const file = await follow(path)
  const next = file.next()
  await replace(path, '1\n2\n')
  assert.deepEqual(await next, [1, 2])
  assert.deepEqual(file.values(), [1, 2])
})

test('a folder swapped below a link, as an orchestrator mounts files, is noticed', async () => {
  for (const version of ['1', '2']) {
    await mkdir(join(folder, `v${version}`))
    await writeFile(join(folder, `v${version}`, 'peers'), `${version}\n`)
  }
  await symlink('v1', join(folder, 'data'))
  await symlink('data/peers', join(folder, 'peers'))
  const file = await follow(join(folder, 'peers'))
  assert.deepEqual(file.values(), [1])
  const next = file.next()
  await symlink('v2', join(folder, 'data.new'))
  await rename(join(folder, 'data.new'), join(folder, 'data'))
  assert.deepEqual(await next, [2])
})

test('a missing file is logged once and gives an empty list until it appears', async () => {
  const path = join(folder, 'late')
  const file = await follow(path)
  assert.deepEqual([file.values(), file.problem()], [[], 'ENOENT'])
  const next = file.next()
  await replace(path, '4\n')
  assert.deepEqual(await next, [4])
  assert.equal(file.problem(), null)
  assert.deepEqual(file.messages('warn'), ['file not readable'])
})

test('a file is read again once for each change, and a whole list skips no line of it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const path = join(folder, 'polled')
  await writeFile(path, '1\nten\n')
  for (const isWhole of [false, true]) {
    const { log, messages } = captureLog()
    const lists: (readonly number[])[] = []
    const kind = integerBetween(1, 9)
    const file = await openLineFile(
      { path, setting: 'NUMBERS_FILE', kind, isWhole, pollIntervalMs: 1 },
      { log, onChange: (values) => void lists.push(values) },
    )
    const poll = async (): Promise<void> => {
      t.mock.timers.tick(1)
      await nextTurn()
    }
    for (let turn = 0; turn < 20; turn++) await poll()
    assert.deepEqual(lists, [])
    await replace(path, '2\n')
    for (let turn = 0; turn < 20 || lists.length === 0; turn++) await poll()
    file.close()
    assert.deepEqual(lists, [[2]])
    const warning = isWhole ? 'file not taken over, the last good list stays' : 'line skipped'
    assert.deepEqual(messages('warn'), [warning])
    await replace(path, '1\nten\n')
  }
})

test('a file is polled every two seconds, and reported only where it has another list', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const path = join(folder, 'every-two-seconds')
  await writeFile(path, '1\n')
  const lists: (readonly number[])[] = []
  const { log, messages } = captureLog()
  const file = await openLineFile(
    { path, setting: 'NUMBERS_FILE', kind: integerBetween(1, 9), isWhole: true },
    { log, onChange: (values) => void lists.push(values) },
  )
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms)
    for (let turn = 0; turn < 100; turn++) await nextTurn()
  }
  await replace(path, '2\n')
  await pass(1_999)
  assert.deepEqual(lists, [])
  await pass(1)
  while (lists.length === 0) await nextTurn()
  for (const spoil of [() => replace(path, '# nobody\n'), () => rm(path)]) {
    const before = messages('warn').length
    await spoil()
    while (messages('warn').length === before) await pass(2_000)
    await pass(2_000)
  }
  file.close()
  assert.deepEqual([lists, file.values()], [[[2]], [2]])
})

test('a file that goes away keeps the last list', async () => {
  const path = join(folder, 'gone')
  await writeFile(path, '5\n')
  const file = await follow(path)
  await rm(path)
  await file.line('file not readable')
  assert.deepEqual(file.values(), [5])
})

test('a list that counts only as a whole says what is wrong with it, and stays as it was', async () => {
  const path = join(folder, 'whole')
  const open = async (text: string, mayBeEmpty = false) => {
    await writeFile(path, text)
    const options = { path, setting: 'NUMBERS_FILE', kind: integerBetween(1, 9), mayBeEmpty }
    const parts = { log: captureLog().log, onChange: () => undefined }
    const file = await openLineFile({ ...options, isWhole: true }, parts)
    file.close()
    return [file.values(), file.problem()]
  }
  assert.deepEqual(await open('1\n2\n'), [[1, 2], null])
  assert.deepEqual(await open('1\nten\n3\nx\n'), [[], 'line 2 cannot be read'])
  assert.deepEqual(await open('# nobody\n'), [[], 'it names nothing'])
  assert.deepEqual(await open('# nobody\n', true), [[], null])
  assert.deepEqual(await open('ten\n', true), [[], 'line 1 cannot be read'])
})

test('a file has as many characters as it may, and no more', async () => {
  const path = join(folder, 'long')
  await writeFile(path, '1\n'.padEnd(1_048_576, '\n'))
  const file = await follow(path)
  assert.deepEqual(file.values(), [1])
  await replace(path, '2\n'.padEnd(1_048_577, '\n'))
  const { problem } = await file.line('file not taken over, the last good list stays')
  assert.equal(problem, 'it has more than 1048576 characters')
  assert.deepEqual(file.values(), [1])
})
