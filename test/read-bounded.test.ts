import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readBounded, readBoundedFile } from '../src/read-bounded.ts'

const pieces = async function* () {
  yield Buffer.from('abc')
  yield Buffer.from('de')
}

test('all pieces are read, and how many bytes there are so far is said', async () => {
  const seen: number[] = []
  const bytes = await readBounded(pieces(), 5, (count) => seen.push(count))
  assert.equal(bytes.toString(), 'abcde')
  assert.deepEqual(seen, [3, 5])
})

test('one byte too many ends it', async () => {
  await assert.rejects(readBounded(pieces(), 4), {
    name: 'RangeError',
    message: /more than 4 bytes/,
  })
})

test('a named pipe, as a shell passes secrets, is read like a file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-pipe-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const writer = spawn('sh', ['-c', 'printf secret > "$0"', pipe])
  t.after(() => writer.kill('SIGKILL'))
  assert.equal((await readBoundedFile(pipe, 6)).toString(), 'secret')
})

test('a folder, and a file that is not there, are refused by the system', async () => {
  await assert.rejects(readBoundedFile(tmpdir(), 6), { code: 'EISDIR' })
  await assert.rejects(readBoundedFile('/none', 6), { code: 'ENOENT' })
})
