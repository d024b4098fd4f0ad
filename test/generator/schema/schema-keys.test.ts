import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { openSchemaKeys, type SchemaKeys } from '../../../src/generator/schema/schema-keys.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import { runningTimers } from '../../support/leaks/timers.ts'

const hourMs = 3_600_000
let folder: string
let file: string
let captured: CapturedLog
let nowMs: number
let keys: SchemaKeys | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'viewmesh-schema-keys-'))
  file = join(folder, 'keys')
  captured = captureLog()
  nowMs = 0
})
afterEach(() => {
  keys?.close()
  rmSync(folder, { recursive: true })
})

/** Opens it with these keys, as if they had just been read from the file. */
function open(...given: readonly string[]): SchemaKeys {
  keys = openSchemaKeys(
    { keys: given, file, pollIntervalMs: 1 },
    { log: captured.log, nowMs: () => nowMs },
  )
  return keys
}

/** Writes the file, and waits until the log says for the so-manieth time that it was read. */
async function write(text: string, times = 1): Promise<void> {
  writeFileSync(file, text)
  await captured.line('file read again', times)
}

test('a renewed key and the one before are accepted, the one before for an hour', async () => {
  const { accepted } = open('old')
  await write('new\n')
  assert.deepEqual(accepted(), ['new', 'old'])
  nowMs = hourMs - 1
  assert.deepEqual(accepted(), ['new', 'old'])
  nowMs = hourMs
  assert.deepEqual(accepted(), ['new'])
})

test('a key that comes back is one of the file again, and does not end', async () => {
  const { accepted } = open('old')
  await write('new')
  await write('new, old', 2)
  assert.deepEqual(accepted(), ['new', 'old'])
  nowMs = hourMs
  assert.deepEqual(accepted(), ['new', 'old'])
})

test('the hour of a key begins when it goes, whatever else changes then', async () => {
  const { accepted } = open('first')
  await write('second')
  nowMs = hourMs / 2
  await write('third', 2)
  assert.deepEqual(accepted(), ['third', 'first', 'second'])
  nowMs = hourMs
  assert.deepEqual(accepted(), ['third', 'second'])
})

test('a file is taken over, and what is wrong with it said, once for each change', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { accepted } = open('old')
  for (const text of ['new', ' \n', 'new', 'newest']) {
    writeFileSync(file, text)
    t.mock.timers.tick(3)
  }
  assert.deepEqual(
    captured.lines.map(({ msg }) => msg),
    ['file read again', 'file not taken over, the last keys stay', 'file read again'],
  )
  assert.deepEqual(accepted(), ['newest', 'old', 'new'])
})

test('while the file is empty or gone its last keys stay, and the log says why', async () => {
  const { accepted } = open('old')
  writeFileSync(file, ' \n')
  const stays = 'file not taken over, the last keys stay'
  const { problem } = await captured.line(stays)
  assert.match(String(problem), /which is empty/)
  rmSync(file)
  assert.match(String((await captured.line(stays, 2))['problem']), /where there is nothing/)
  assert.deepEqual(accepted(), ['old'])
})

test('of keys that went the newest 64 are accepted, however often the file changes', async () => {
  const names = (count: number, from = 0): string[] =>
    Array.from({ length: count }, (_, index) => `key-${from + index}`)
  const { accepted } = open(...names(64))
  await write('last')
  assert.deepEqual(accepted(), ['last', ...names(64)])
  await write('newest', 2)
  assert.deepEqual(accepted(), ['newest', ...names(63, 1), 'last'])
})

test('keys are trimmed as what requests show is, and none is in the log', async () => {
  const { accepted } = open('one', ' two')
  assert.deepEqual(accepted(), ['one', 'two'])
  await write('secret-three, secret-four')
  assert.deepEqual(accepted(), ['secret-three', 'secret-four', 'one', 'two'])
  assert.doesNotMatch(JSON.stringify(captured.lines), /secret-/)
})

test('keys that no file holds stay what they are', () => {
  keys = openSchemaKeys({ keys: ['only'] }, { log: captured.log })
  assert.deepEqual(keys.accepted(), ['only'])
})

test('keys that are looked for do not keep the program from ending', () => {
  const before = runningTimers()
  open('old')
  assert.equal(runningTimers(), before)
})
