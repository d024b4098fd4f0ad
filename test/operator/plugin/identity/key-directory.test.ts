/** The programs that run in a container, run here: they need nothing but Node and a folder. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import type { ContainerExec } from '../../../../operator/plugin/cluster/exec.ts'
import { fetchKeyFile, placeKeyFile } from '../../../../operator/plugin/identity/key-directory.ts'

const top = mkdtempSync(join(tmpdir(), 'viewmesh-keys-'))
after(() => rmSync(top, { recursive: true }))
const container = { namespace: 'apps', pod: 'mainnet-host-0', container: 'host' }
const folder = (): string => mkdtempSync(join(top, 'a-'))

/** Standard input stays open, as it does in a container. */
const exec: ContainerExec = async (_container, [, ...args], { stdin } = {}) => {
  const child = spawn(process.execPath, args)
  if (stdin !== undefined) child.stdin.write(stdin)
  const { promise, resolve } = Promise.withResolvers<number>()
  child.on('close', (code) => resolve(code ?? 1))
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)]
  return { exitCode: await promise, stdout: await stdout, stderr: await stderr }
}

const read = (place: string): Promise<string | null> =>
  fetchKeyFile(exec, container, 'host', undefined, place)
const write = (place: string, content: string): Promise<void> =>
  placeKeyFile(exec, container, { program: 'host', text: content }, undefined, place)

test('what is written is what is read, by its owner alone, and nothing else is left', async () => {
  const place = folder()
  const content = `{"text": "${'ä'.repeat(40_000)}"}\n`
  assert.equal(await read(place), null)
  await write(place, content)
  assert.equal(await read(place), content)
  assert.deepEqual(readdirSync(place), ['host.json'])
  assert.equal(statSync(join(place, 'host.json')).mode & 0o777, 0o600)
})

test('a key file that is there is never written over, and that is reported', async () => {
  const place = folder()
  writeFileSync(join(place, 'host.json'), 'the first')
  await assert.rejects(write(place, 'the second'), {
    code: 'PLUGIN_IDENTITY_CONFLICT',
    message: `${place}/host.json was written by something else just now`,
  })
  assert.equal(readFileSync(join(place, 'host.json'), 'utf8'), 'the first')
  assert.deepEqual(readdirSync(place), ['host.json'])
})

test('only the file of the program is read', async () => {
  const place = folder()
  writeFileSync(join(place, 'generator.json'), 'of a Generator')
  assert.equal(await read(place), null)
})

test('a directory that cannot be used is reported with what the system says', async () => {
  const place = join(folder(), 'missing')
  await assert.rejects(write(place, 'x'), {
    code: 'PLUGIN_KEYS_UNREADABLE',
    message: /^the key file cannot be written in pod apps\/mainnet-host-0: Error: ENOENT/,
  })
  const notOne = folder()
  writeFileSync(join(notOne, 'file'), '')
  await assert.rejects(read(join(notOne, 'file')), {
    code: 'PLUGIN_KEYS_UNREADABLE',
    message: /cannot be read in pod apps\/mainnet-host-0: Error: ENOTDIR/,
  })
})

test('of what a container says the line with the error is shown, or else how it begins', async () => {
  const saying = async (stderr: string): Promise<void> => {
    const failing: ContainerExec = async () => ({ exitCode: 1, stdout: '', stderr })
    await fetchKeyFile(failing, container, 'host')
  }
  const what = 'the key file cannot be read in pod apps/mainnet-host-0: '
  const lines = 'node:fs:1\n  Error: EACCES: denied  \n    at open'
  await assert.rejects(saying(lines), { message: `${what}Error: EACCES: denied` })
  await assert.rejects(saying(`${'x'.repeat(300)}y`), { message: `${what}${'x'.repeat(300)}` })
})
