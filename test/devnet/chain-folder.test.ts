import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import {
  chainFolders,
  localChains,
  nextChainFolder,
  nodeFolder,
  nodeLog,
  openProgramFolder,
  prepareRoot,
} from '../../src/devnet/chain-folder.ts'
import { startChild } from '../support/child-program.ts'
import { otherUser } from '../support/other-user/leave-root.ts'

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

for (const [what, mode] of [
  ['write to', 0o555],
  ['read', 0o333],
] as const)
  test(`a directory that the program may not ${what} is refused with how to make it its own`, async () => {
    await chmod(root, 0o755)
    const path = join(root, what)
    await mkdir(path)
    await chmod(path, mode)
    const child = startChild('test/devnet/support/prepare-folder.ts', { args: [path] })
    const { stdout, stderr } = await child.ended()
    assert.equal(stderr, '')
    const { code, remedy } = JSON.parse(stdout)
    assert.equal(code, 'DEVNET_PATH_UNUSABLE')
    assert.match(
      remedy,
      new RegExp(`chown -R ${otherUser} .* Or choose another one with devnet.path`),
    )
  })

test("a chain's folder is named by the first 8 hex digits of its genesis hash", () => {
  assert.equal(nextChainFolder(join(root, 'nowhere'), genesis), join(root, 'nowhere', '8b630696'))
})

test('where the same genesis began again, a number follows', async () => {
  assert.deepEqual(chainFolders(join(root, 'nowhere'), genesis), [])
  const path = join(root, 'counted')
  for (const name of ['8b630696', '8b630696-2', '8b630696-10', 'aaaaaaaa', '8b630696-x']) {
    await mkdir(join(path, name), { recursive: true })
  }
  assert.deepEqual(
    chainFolders(path, genesis),
    ['8b630696-10', '8b630696-2', '8b630696'].map((name) => join(path, name)),
  )
  assert.equal(nextChainFolder(path, genesis), join(path, '8b630696-11'))
})

test('each program has one secret, made once for its owner only, and the Host an admin token', async () => {
  const folder = join(root, 'secrets')
  const generator = openProgramFolder(folder, 'generator')
  const host = openProgramFolder(folder, 'host')
  const secret = await readFile(generator.secretPath, 'utf8')
  assert.equal((await stat(generator.secretPath)).mode & 0o777, 0o600)
  assert.equal((await stat(dirname(generator.secretPath))).mode & 0o777, 0o700)
  const bytesOf = (text: string): number => Buffer.from(text, 'base64url').length
  assert.equal(bytesOf(secret), 32)
  assert.notEqual(await readFile(host.secretPath, 'utf8'), secret)
  openProgramFolder(folder, 'generator')
  assert.equal(await readFile(generator.secretPath, 'utf8'), secret)
  assert.equal(bytesOf(await readFile(host.adminTokenPath, 'utf8')), 32)
  await assert.rejects(readFile(generator.adminTokenPath), { code: 'ENOENT' })
})

test('of local chains the one that was used last comes first', async () => {
  assert.deepEqual(localChains(root), [])
  const first = await makeOwnChain('11111111', new Date('2026-01-01'))
  const last = await makeOwnChain('22222222', new Date('2026-03-01'))
  const second = await makeOwnChain('44444444', new Date('2026-02-01'))
  await mkdir(join(root, '33333333', 'generator'), { recursive: true })
  assert.deepEqual(localChains(root), [last, second, first])
})
