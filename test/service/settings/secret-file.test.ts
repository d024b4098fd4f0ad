import assert from 'node:assert/strict'
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSecretFile } from '../../../src/service/settings/secret-file.ts'
import { testDirectory } from '../../support/test-store.ts'

test('a secret is up to 64 KiB of text, without the line breaks at its end', (t) => {
  const path = join(testDirectory(t), 'secret')
  const read = (text: string): ReturnType<typeof readSecretFile> => {
    writeFileSync(path, text)
    return readSecretFile('A_FILE', path)
  }
  assert.deepEqual(read(' a\nb \r\n\n'), { value: ' a\nb ' })
  const full = 'x'.repeat(65_536)
  assert.deepEqual(read(full), { value: full })
  const accepted = 'accepted is a file that holds the secret'
  assert.deepEqual(read(`${full}x`), {
    problem: `A_FILE points to ${path}, which has 65537 bytes (at most 65536); ${accepted}`,
  })
  assert.deepEqual(read(' \n'), {
    problem: `A_FILE points to ${path}, which is empty; ${accepted}`,
  })
})

test('a file that cannot be read is told from one that is not there', (t) => {
  const folder = testDirectory(t)
  const problemOf = (name: string): string =>
    readSecretFile('A_FILE', join(folder, name)).problem ?? assert.fail('it was read')
  writeFileSync(join(folder, 'file'), '')
  symlinkSync('loop', join(folder, 'loop'))
  assert.match(problemOf('missing'), /, where there is nothing; /)
  assert.match(problemOf('file/below'), /, where there is nothing; /)
  assert.match(problemOf('loop'), /, which cannot be read \(ELOOP: /)
  chmodSync(join(folder, 'file'), 0o000)
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    assert.match(problemOf('file'), /, which this user may not read; /)
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})
