import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { open } from 'lmdb'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { ServiceError } from '../../src/errors.ts'
import { openReader } from '../../src/store/read/reader.ts'
import { openWriter, type StoreWriterOptions } from '../../src/store/write/writer.ts'
import { namedHash, opaqueBlock } from '../support/chain/opaque-blocks.ts'
import { startChild } from '../support/child-program.ts'
import { isRoot } from '../support/other-user/leave-root.ts'
import { testDirectory } from '../support/test-store.ts'

const log = pino({ enabled: false })
const network = 'Ethereum__Mainnet'
const genesisHash = namedHash('genesis')

const openAt = (
  path: string,
  more: Partial<StoreWriterOptions> = {},
): ReturnType<typeof openWriter> =>
  openWriter({ path, network, retainBlocks: null, ...more }, { log })

/** Makes a store with one block and closes it. */
async function madeStore(path: string, more: Partial<StoreWriterOptions> = {}): Promise<void> {
  const store = await openAt(path, more)
  await store.putSealedBlock(opaqueBlock(1))
  await store.close()
}

/** Expects opening to fail, and gives the error with what a user sees of it. */
async function refusal(opened: Promise<unknown>): Promise<ServiceError> {
  const error = await opened.then(
    () => assert.fail('the store was opened'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ServiceError)
  assert.ok(error.remedy !== undefined)
  return error
}

const dataOf = (path: string): Buffer => readFileSync(join(path, 'data.mdb'))

describe('opening a store', () => {
  it('refuses one whose file was cut short, with what is missing, and changes nothing', async (t) => {
    const path = testDirectory(t)
    await madeStore(path)
    const whole = dataOf(path)
    for (const bytes of [100, 4_096, 8_191, 8_192, whole.length / 2]) {
      writeFileSync(join(path, 'data.mdb'), whole.subarray(0, bytes))
      const { code, message, remedy, facts } = await refusal(openAt(path))
      const needed = bytes < 8_192 ? 8_192 : whole.length
      assert.deepEqual([code, facts['bytes'], facts['needed']], ['STORE_DAMAGED', bytes, needed])
      assert.equal(
        message,
        `The store at ${path} is damaged: data.mdb ends after ${bytes} of ${needed} bytes.`,
      )
      assert.match(`${remedy}`, /^Put a whole copy in its place, or choose an empty directory/)
      assert.equal(dataOf(path).length, bytes)
    }
  })

  it('refuses a folder or a pipe in the place of its files, and waits for nobody', async (t) => {
    for (const file of ['data.mdb', 'lock.mdb', 'store.lock'])
      for (const make of ['mkdir', 'mkfifo']) {
        const path = testDirectory(t)
        await madeStore(path)
        rmSync(join(path, file))
        execFileSync(make, [join(path, file)])
        const { code, message } = await refusal(openAt(path))
        assert.equal(code, 'STORE_PATH_UNUSABLE')
        assert.match(message, / is no file$/)
      }
  })

  it('makes one where there is none, and finds again what was stored', async (t) => {
    const path = join(testDirectory(t), 'not', 'there.yet')
    await madeStore(path)
    assert.deepEqual(readdirSync(path).sort(), ['data.mdb', 'lock.mdb', 'store.lock'])
    const store = await openAt(path)
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.range(), { tail: 1, head: 1 })
      assert.equal(snapshot.seals(1).length, 1)
    })
    await store.close()
  })

  it('refuses one of another network, names both, and writes nothing', async (t) => {
    const path = testDirectory(t)
    await madeStore(path)
    const before = dataOf(path)
    const error = await refusal(openAt(path, { network: 'Ethereum__Sepolia' }))
    assert.equal(error.code, 'STORE_FOREIGN')
    assert.deepEqual(error.facts, {
      path,
      found: 'Ethereum__Mainnet',
      expected: 'Ethereum__Sepolia',
    })
    assert.match(
      error.message,
      /belongs to the network Ethereum__Mainnet, not to Ethereum__Sepolia/,
    )
    assert.match(error.remedy ?? '', /DB_STORE_PATH/)
    assert.deepEqual(dataOf(path), before)
  })

  it('refuses one of another chain, once it knows the chain by its genesis block', async (t) => {
    const path = testDirectory(t)
    await madeStore(path)
    await madeStore(path, { genesisHash })
    await madeStore(path)
    const other = namedHash('another genesis')
    const error = await refusal(openAt(path, { genesisHash: other }))
    assert.equal(error.code, 'STORE_FOREIGN')
    assert.deepEqual(error.facts, { path, found: genesisHash, expected: other })
    await madeStore(path, { genesisHash })
  })

  it('refuses an unknown format, and leaves it to the program that made it', async (t) => {
    const path = testDirectory(t)
    await madeStore(path)
    const root = open({ path, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' })
    const meta = root.openDB('meta', {
      encoding: 'binary',
      keyEncoding: 'binary',
      useVersions: true,
    })
    await meta.put(Buffer.from('store'), Buffer.from('{"format":4,"network":"x"}'), 1)
    await root.close()
    const before = dataOf(path)
    const error = await refusal(openAt(path))
    assert.equal(error.code, 'STORE_FORMAT_UNKNOWN')
    assert.deepEqual(error.facts, { path, found: 'format 4', expected: 3 })
    assert.match(error.message, new RegExp(`${path} is of an unknown format: format 4, expected`))
    assert.deepEqual(dataOf(path), before)
  })

  it('refuses a database of another program, and a file that is no database', async (t) => {
    const path = testDirectory(t)
    const root = open({ path, noSubdir: false })
    await root.openDB('users', {}).put('a', 'b')
    await root.close()
    const before = dataOf(path)
    const error = await refusal(openAt(path))
    assert.equal(error.code, 'STORE_FORMAT_UNKNOWN')
    assert.match(error.message, /databases such as users/)
    assert.deepEqual(dataOf(path), before)

    const other = testDirectory(t)
    writeFileSync(join(other, 'data.mdb'), Buffer.alloc(20_000, 'no database'))
    assert.equal((await refusal(openAt(other))).code, 'STORE_FORMAT_UNKNOWN')
  })

  it('opens a store that was being made when its program died', async (t) => {
    const path = testDirectory(t)
    const root = open({ path, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' })
    root.openDB('meta', { encoding: 'binary', keyEncoding: 'binary', useVersions: true })
    root.openDB('headers', { encoding: 'binary', keyEncoding: 'binary' })
    await root.close()
    await madeStore(path)
  })

  it('names a path that is no directory', async (t) => {
    const path = join(testDirectory(t), 'file')
    writeFileSync(path, '')
    const error = await refusal(openAt(path))
    assert.equal(error.code, 'STORE_PATH_UNUSABLE')
    assert.equal(error.facts['path'], path)
    assert.match(error.remedy ?? '', /DB_STORE_PATH/)
  })

  it('names a path on a file system that takes no directories', {
    skip: !existsSync('/proc/self'),
  }, async () => {
    const error = await refusal(openAt('/proc/viewmesh/store'))
    assert.equal(error.code, 'STORE_PATH_UNUSABLE')
    assert.equal(error.facts['path'], '/proc/viewmesh/store')
  })

  it('refuses one of the other program, whatever its network, and writes nothing', async (t) => {
    const path = testDirectory(t)
    await madeStore(path)
    await madeStore(path, { program: 'generator' })
    await madeStore(path)
    const before = dataOf(path)
    for (const more of [{}, { network: 'Ethereum__Sepolia' }]) {
      const error = await refusal(openAt(path, { program: 'host', ...more }))
      assert.equal(error.code, 'STORE_FOREIGN')
      assert.equal(error.message, `The store at ${path} belongs to a generator, not to a host.`)
      assert.deepEqual(error.facts, { path, found: 'generator', expected: 'host' })
      assert.match(error.remedy ?? '', /DB_STORE_PATH/)
    }
    assert.deepEqual(dataOf(path), before)
    await madeStore(path, { program: 'generator' })
  })

  it('refuses that of an app to the programs, and theirs to apps', async (t) => {
    const [app, host] = [testDirectory(t), testDirectory(t)]
    await madeStore(app, { program: 'app' })
    await madeStore(host, { program: 'host' })
    for (const program of ['generator', 'host'] as const) {
      const { code, message } = await refusal(openAt(app, { program }))
      const expected = `The store at ${app} belongs to an app, not to a ${program}.`
      assert.deepEqual([code, message], ['STORE_FOREIGN', expected])
    }
    const { code, message, remedy } = await refusal(openAt(host, { program: 'app' }))
    const expected = `The store at ${host} belongs to a host, not to an app.`
    assert.deepEqual([code, message], ['STORE_FOREIGN', expected])
    assert.equal(remedy, 'Choose another directory, or start the host on this one.')
  })

  it('opens a store that was made before stores named their program', async (t) => {
    const path = testDirectory(t)
    await madeStore(path)
    const root = open({ path, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' })
    const options = { encoding: 'binary', keyEncoding: 'binary', useVersions: true } as const
    const meta = root.openDB<Buffer, Buffer>('meta', options)
    const { program, ...older } = JSON.parse(String(meta.get(Buffer.from('store'))))
    assert.equal(program, null)
    await meta.put(Buffer.from('store'), Buffer.from(JSON.stringify(older)), 1)
    await root.close()
    await madeStore(path, { program: 'host' })
    assert.equal((await refusal(openAt(path, { program: 'generator' }))).code, 'STORE_FOREIGN')
  })

  for (const [what, spoil] of [
    ['a directory that this user may not write', (path) => chmodSync(path, 0o500)],
    ['a directory that this user may not read', (path) => chmodSync(path, 0o300)],
    ['files that this user may not write', (path) => chmodSync(join(path, 'data.mdb'), 0o400)],
  ] satisfies [string, (path: string) => void][])
    it(`names ${what}`, async (t) => {
      const parent = testDirectory(t)
      chmodSync(parent, 0o755)
      const path = join(parent, 'store')
      await madeStore(path)
      const files = readdirSync(path).map((name) => join(path, name))
      if (isRoot) for (const each of [path, ...files]) chownSync(each, 1001, 1001)
      spoil(path)
      const child = startChild('test/store/support/store-program.ts', {
        args: ['hold-as-user', path],
      })
      const { stdout, code } = await child.ended()
      assert.equal(stdout.trim(), 'STORE_PATH_UNUSABLE')
      assert.equal(code, 1)
    })

  it('reports the size of the file and the visible blocks as metrics', async (t) => {
    const path = testDirectory(t)
    const registry = new Registry()
    const store = await openWriter({ path, network, retainBlocks: 2 }, { log, registry })
    t.after(() => store.close())
    for (const height of [1, 2, 3]) await store.putSealedBlock(opaqueBlock(height))
    const text = await registry.metrics()
    assert.match(
      text,
      new RegExp(`^viewmesh_store_bytes ${statSync(join(path, 'data.mdb')).size}$`, 'm'),
    )
    assert.match(text, /^viewmesh_store_blocks 2$/m)
    assert.match(text, /^viewmesh_store_commit_seconds_count\{kind="documents"\} 3$/m)
  })

  it('for reading is refused without a writer', async (t) => {
    const path = testDirectory(t)
    await madeStore(path)
    assert.throws(() => openReader({ path }), { code: 'STORE_NOT_OPEN' })
    assert.throws(() => openReader({ path: join(path, 'nowhere') }), { code: 'STORE_NOT_OPEN' })
    const store = await openAt(path)
    const reader = openReader({ path })
    reader.read((snapshot) => assert.equal(snapshot.range()?.head, 1))
    reader.close()
    await store.close()
    assert.throws(() => openReader({ path }), { code: 'STORE_NOT_OPEN' })
  })

  it('works on a copy of the file in another place', async (t) => {
    const [path, other] = [testDirectory(t), testDirectory(t)]
    await madeStore(path)
    copyFileSync(join(path, 'data.mdb'), join(other, 'data.mdb'))
    rmSync(path, { recursive: true })
    const store = await openAt(other)
    store.reader.read((snapshot) => assert.equal(snapshot.range()?.head, 1))
    await store.close()
  })
})
