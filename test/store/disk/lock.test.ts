import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { lockFile, lockStore } from '../../../src/store/disk/store-lock.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { type ChildProgram, startChild } from '../../support/child-program.ts'
import { testDirectory } from '../../support/test-store.ts'

const program = 'test/store/support/store-program.ts'
const log = pino({ enabled: false })

const openAt = (path: string): ReturnType<typeof openWriter> =>
  openWriter({ path, network: testNetwork, retainBlocks: null }, { log })

async function killed(child: ChildProgram): Promise<void> {
  child.process.kill('SIGKILL')
  await child.ended()
}

describe('the lock of a store', () => {
  it('keeps a second program out, names the path, and ends with kill -9', async (t) => {
    const path = testDirectory(t)
    const holder = startChild(program, { args: ['hold', path] })
    await holder.says('open')
    const refused = openAt(path)
    await assert.rejects(refused, {
      code: 'STORE_LOCKED',
      message: `Another program has the store at ${path} open.`,
    })
    const second = await startChild(program, { args: ['hold', path] }).ended()
    assert.deepEqual([second.stdout.trim(), second.code], ['STORE_LOCKED', 1])
    await killed(holder)
    const store = await openAt(path)
    await store.close()
  })

  it('keeps a second writer of the same program out, until the first is closed', async (t) => {
    const path = testDirectory(t)
    const first = await openAt(path)
    await assert.rejects(openAt(path), { code: 'STORE_LOCKED' })
    await first.close()
    const second = await openAt(path)
    await second.close()
  })

  it('goes to one of several programs that start at the same moment', async (t) => {
    const path = testDirectory(t)
    const children = [1, 2, 3].map(() => startChild(program, { args: ['hold', path] }))
    const said = await Promise.all(
      children.map(async (child) => {
        if (child.stdout() === '') await once(child.process.stdout ?? child.process, 'data')
        return child.stdout().trim()
      }),
    )
    assert.deepEqual(said.sort(), ['STORE_LOCKED', 'STORE_LOCKED', 'open'])
    await Promise.all(children.map(killed))
  })

  it('is not lost when the holder drops its reference, and works under a long path', (t) => {
    const path = join(testDirectory(t), 'a'.repeat(120), 'b'.repeat(120))
    mkdirSync(path, { recursive: true })
    lockStore(path)
    setFlagsFromString('--expose-gc')
    runInNewContext('gc')()
    assert.throws(() => lockStore(path), { code: 'STORE_LOCKED' })
  })

  it('is refused where its file is one of something else', (t) => {
    const path = testDirectory(t)
    writeFileSync(join(path, lockFile), 'no lock of ours'.repeat(100))
    assert.throws(() => lockStore(path), {
      code: 'STORE_PATH_UNUSABLE',
      facts: { path, file: lockFile },
    })
  })

  it('names a path that is too long for it', (t) => {
    const path = join(testDirectory(t), ...Array.from({ length: 3 }, () => 'c'.repeat(200)))
    mkdirSync(path, { recursive: true })
    assert.throws(() => lockStore(path), { code: 'STORE_PATH_UNUSABLE', remedy: /shorter path/ })
  })
})
