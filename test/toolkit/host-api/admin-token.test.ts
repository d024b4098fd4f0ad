/** Where the token of a Host comes from. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import { readAdminToken } from '../../../src/toolkit/host-api/admin-token.ts'
import { testDirectory } from '../../support/test-store.ts'

/** Reads it in a folder with a file for the flag and one for the variable. */
async function openReading(t: TestContext) {
  const cwd = testDirectory(t)
  await writeFile(join(cwd, 'of-flag'), 'from the flag\n')
  await writeFile(join(cwd, 'of-variable'), '\tfrom the variable\r\n')
  const write = (text: string): Promise<void> => writeFile(join(cwd, 'of-flag'), text)
  const read = (env: Terminal['env'], file?: string): Promise<string | null> =>
    readAdminToken({ env, cwd } as Terminal, file)
  return { read, write }
}

test('the token is that of the flag, the environment, or the file that this names', async (t) => {
  const { read } = await openReading(t)
  const [HOST_ADMIN_TOKEN, HOST_ADMIN_TOKEN_FILE] = ['as it is', 'of-variable']
  const env = { HOST_ADMIN_TOKEN, HOST_ADMIN_TOKEN_FILE }
  assert.equal(await read(env, 'of-flag'), 'from the flag')
  assert.equal(await read(env), 'as it is')
  assert.equal(await read({ HOST_ADMIN_TOKEN_FILE }), 'from the variable')
  assert.equal(await read({ HOST_ADMIN_TOKEN: '', HOST_ADMIN_TOKEN_FILE }), 'from the variable')
  assert.equal(await read({ HOST_ADMIN_TOKEN }), 'as it is')
})

test('there is no token where none is given, or what is given is empty', async (t) => {
  const { read } = await openReading(t)
  assert.equal(await read({}), null)
  assert.equal(await read({ HOST_ADMIN_TOKEN: '', HOST_ADMIN_TOKEN_FILE: '' }), null)
})

test('a file of a token that is missing, or larger than any token, is refused by name', async (t) => {
  const { read, write } = await openReading(t)
  await write('x'.repeat(4_096))
  assert.equal((await read({}, 'of-flag'))?.length, 4_096)
  await write('x'.repeat(4_097))
  for (const file of ['of-flag', 'missing'])
    await assert.rejects(read({}, file), {
      code: 'TOOLKIT_INPUT_UNREADABLE',
      message: `the admin token ${file} cannot be read`,
    })
})
