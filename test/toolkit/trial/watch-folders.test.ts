import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openFolderWatch } from '../../../src/toolkit/trial/watch-folders.ts'

interface Watched {
  readonly folder: string
  /** Whether a change is noticed; with it all that came of it is over. */
  notices(change: () => void): Promise<boolean>
}

function openWatch(t: TestContext, signal = new AbortController().signal) {
  const project = mkdtempSync(join(tmpdir(), 'viewmesh-watch-'))
  const watch = openFolderWatch(signal)
  t.after(() => {
    watch.close()
    rmSync(project, { recursive: true })
  })
  return { project, folder: join(project, 'lenses'), watch }
}

function watched(t: TestContext): Watched {
  const { folder, watch } = openWatch(t)
  return {
    folder,
    notices: async (change) => {
      watch.add(folder)
      change()
      const isNoticed = await watch.changed(10_000)
      do watch.add(folder)
      while (await watch.changed(300))
      return isNoticed
    },
  }
}

const write = (folder: string): void => writeFileSync(join(folder, 'lens.wasm'), 'x')

test('a folder that is made later is noticed, and what is written to it', async (t) => {
  const { folder, notices } = watched(t)
  assert.ok(await notices(() => mkdirSync(folder)))
  assert.ok(await notices(() => write(folder)))
})

test('a folder that is deleted and made again is noticed, and what is written to it', async (t) => {
  const { folder, notices } = watched(t)
  mkdirSync(folder)
  assert.ok(await notices(() => rmSync(folder, { recursive: true })))
  assert.ok(await notices(() => mkdirSync(folder)))
  assert.ok(await notices(() => write(folder)))
})

test('a folder whose parent comes later is watched from the next time that it is added', async (t) => {
  const { project, watch } = openWatch(t)
  const folder = join(project, 'parent/lenses')
  watch.add(folder)
  mkdirSync(folder, { recursive: true })
  assert.equal(await watch.changed(0), false)
  watch.add(folder)
  write(folder)
  assert.equal(await watch.changed(10_000), true)
})

test('what else is in the parent of a folder is no change of it', async (t) => {
  const { project, folder, watch } = openWatch(t)
  mkdirSync(folder)
  watch.add(folder)
  write(project)
  assert.equal(await watch.changed(300), false)
})

test('without a time that it may take a change is waited for', async (t) => {
  const { folder, watch } = openWatch(t)
  mkdirSync(folder)
  watch.add(folder)
  const changed = watch.changed()
  write(folder)
  assert.equal(await changed, true)
})

test('a watch whose signal was aborted rejects with its reason, each time that it is asked', async (t) => {
  const controller = new AbortController()
  const { watch } = openWatch(t, controller.signal)
  const reason = new Error('stopped')
  const waiting = assert.rejects(watch.changed(), reason)
  controller.abort(reason)
  await waiting
  await assert.rejects(watch.changed(0), reason)
})

test('a watch that nobody waits for ends with its signal', async (t) => {
  const controller = new AbortController()
  const { watch } = openWatch(t, controller.signal)
  const reason = new Error('stopped')
  controller.abort(reason)
  await nextTurn()
  await assert.rejects(watch.changed(0), reason)
})
