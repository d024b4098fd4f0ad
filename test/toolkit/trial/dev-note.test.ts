import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { readDevNote } from '../../../src/toolkit/trial/dev-note.ts'

const module = new URL('../../../src/toolkit/trial/dev-note.ts', import.meta.url).href
const id = `0x${'1'.repeat(64)}`

test('a note that two runs write at once is that of one of them, and none of them fails', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'viewmesh-note-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'dev', 'note')
  const write = (byte: number): Promise<unknown> => {
    const program = `import { writeDevNote } from ${JSON.stringify(module)}
for (let n = 0; n < 1000; n++)
  writeDevNote(${JSON.stringify(path)}, '${id}', new Uint8Array(20_000).fill(${byte}))`
    return promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  }
  await Promise.all([write(1), write(2)])
  const wire = readDevNote(path)?.wire
  assert.equal(wire?.length, 20_000)
  assert.equal(new Set(wire).size, 1)
  assert.deepEqual(await readdir(join(folder, 'dev')), ['note'])
})
