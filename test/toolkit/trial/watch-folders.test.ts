import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openFolderWatch } from '../../../src/toolkit/trial/watch-folders.ts'

interface Watched {
  readonly folder: string
  /** Whether a change is noticed; with it all that came of it is over. */
  notices(change: () => void): Promise<boolean>
}

function watched(t: TestContext): Watched {
  const project = mkdtempSync(join(tmpdir(), 'viewmesh-watch-'))
  const folder = join(project, 'lenses')
  const watch = openFolderWatch(new AbortController().signal)
  t.after(() => {
    watch.close()
    rmSync(project, { recursive: true })
  })
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
