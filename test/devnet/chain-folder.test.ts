import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  chainFolderName,
  countChainFolders,
  newestLocalChain,
  nodeFolder,
  nodeLog,
  openProgramFolder,
  prepareRoot,
} from '../../src/devnet/chain-folder.ts'

const root = await mkdtemp(join(tmpdir(), 'viewmesh-folders-'))
after(() => rm(root, { recursive: true }))
const genesis = `0x8b630696${'0'.repeat(56)}`

async function makeOwnChain(name: string, usedAt: Date): Promise<string> {
  const folder = join(root, name)
  await mkdir(nodeFolder(folder), { recursive: true })
  await writeFile(nodeLog(folder), '')
  await utimes(nodeLog(folder), usedAt, usedAt)
  return folder
}

test('the directory of all chains is made, for its owner only', async () => {
  const path = join(root, 'made', 'dev')
  for (const _ of ['first', 'again']) prepareRoot(path)
  assert.equal((await stat(path)).mode & 0o777, 0o700)
})

test('a directory that cannot be made is refused with its setting', async () => {
  const file = join(root, 'a-file')
  await writeFile(file, '')
  for (const path of [file, join(file, 'dev')])
    assert.throws(() => prepareRoot(path), {
      code: 'DEVNET_PATH_UNUSABLE',
      message: `the directory ${path} cannot hold a development chain`,
      facts: { path },
      remedy: 'Choose another one with devnet.path (DEVNET_PATH).',
    })
})

test("a chain's folder is named by the first 8 hex digits of its genesis hash", () => {
  assert.equal(chainFolderName(genesis, 1), '8b630696')
})

test('where the same genesis began again, a number follows', async () => {
  assert.equal(countChainFolders(join(root, 'nowhere'), genesis), 0)
  const path = join(root, 'counted')
  for (const name of ['8b630696', '8b630696-2', 'aaaaaaaa', '8b630696-x']) {
    await mkdir(join(path, name), { recursive: true })
  }
  assert.equal(countChainFolders(path, genesis), 2)
  assert.equal(chainFolderName(genesis, 3), '8b630696-3')
})

test('each program has one secret, made once and readable by its owner only', async () => {
  const folder = join(root, 'secrets')
  const generator = openProgramFolder(folder, 'generator')
  const host = openProgramFolder(folder, 'host')
  const secret = await readFile(generator.secretPath, 'utf8')
  assert.equal((await stat(generator.secretPath)).mode & 0o777, 0o600)
  assert.ok(secret.length > 40)
  assert.notEqual(await readFile(host.secretPath, 'utf8'), secret)
  openProgramFolder(folder, 'generator')
  assert.equal(await readFile(generator.secretPath, 'utf8'), secret)
})

test('the local chain that was used last is the one that continues', async () => {
  assert.equal(newestLocalChain(root), null)
  const used = await makeOwnChain('11111111', new Date('2026-02-01'))
  await makeOwnChain('22222222', new Date('2026-01-01'))
  await mkdir(join(root, '33333333', 'generator'), { recursive: true })
  assert.equal(newestLocalChain(root), used)
})
