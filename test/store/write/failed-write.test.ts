import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { openExisting, openRoot } from '../../../src/store/disk/environment.ts'
import { stateKey } from '../../../src/store/disk/layout.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { testDirectory } from '../../support/test-store.ts'
import type { FillReport } from '../support/store-program.ts'

const program = fileURLToPath(new URL('../support/store-program.ts', import.meta.url))

/** Runs the filling program in a shell that limits it; undefined where this machine does not allow it. */
async function fillIn(
  command: readonly [string, ...string[]],
  shell: string,
  path: string,
): Promise<FillReport | undefined> {
  const [file, ...args] = command
  const child = spawn(
    file,
    [...args, 'bash', '-c', shell, 'bash', process.execPath, program, path],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const failed = once(child, 'error').then(() => undefined)
  const said = await Promise.race([text(child.stdout), failed])
  const line = said?.trim().split('\n').at(-1) ?? ''
  return line.startsWith('{') ? (JSON.parse(line) as FillReport) : undefined
}

/** What was acknowledged is there, whole; what was not is absent; and the store can be used again. */
async function assertNothingHalf(path: string, report: FillReport): Promise<void> {
  assert.equal(report.head, report.acknowledged)
  assert.ok(report.acknowledged >= 10)
  const options = { path, network: opaqueNetwork, retainBlocks: null }
  const store = await openWriter(options, { log: pino({ enabled: false }) })
  store.reader.read((snapshot) => {
    assert.deepEqual(snapshot.range(), { tail: 1, head: report.acknowledged })
    for (let height = 1; height <= report.acknowledged; height++) {
      const { body, seals } = opaqueBlock(height, 60_000)
      assert.deepEqual(Buffer.from(snapshot.body(height) ?? []), body)
      assert.deepEqual(snapshot.seals(height), seals)
    }
  })
  await store.putSealedBlock(opaqueBlock(report.acknowledged + 1))
  await store.close()
}

describe('a write that fails', () => {
  it('on a full disk stops the store: STORE_FULL, a remedy, and nothing half written', async (t) => {
    const path = testDirectory(t)
    // The file system of 6 MB is seen by this child alone, so the store is copied out of it.
    const shell =
      'set -e; work=$(mktemp -d); mount -t tmpfs -o size=6m tmpfs $work; "$1" "$2" fill $work; cp $work/data.mdb "$3"; rmdir $work || true'
    const report = await fillIn(['unshare', '--map-root-user', '--mount'], shell, path)
    if (report === undefined) return t.skip('this machine lets nobody mount a small file system')
    assert.equal(report.code, 'STORE_FULL')
    assert.match(report.message, /^There is no space left for the store at \//)
    assertExplained({ ...report, remedy: report.remedy ?? '' })
    assert.match(report.remedy ?? '', /Free space .* everything that was acknowledged is kept/)
    assert.equal(report.laterCode, 'STORE_FULL')
    await assertNothingHalf(path, report)
  })

  it('for another reason stops it as well: STORE_WRITE_FAILED', async (t) => {
    const path = testDirectory(t)
    const shell = `trap '' XFSZ; ulimit -f 4096; exec "$1" "$2" fill "$3"`
    const report = await fillIn(['env'], shell, path)
    assert.ok(report)
    assert.equal(report.code, 'STORE_WRITE_FAILED')
    assert.equal(report.laterCode, 'STORE_WRITE_FAILED')
    await assertNothingHalf(path, report)
  })

  it('since another program wrote to the file stops it, and what that wrote is left alone', async (t) => {
    const path = testDirectory(t)
    const options = { path, network: opaqueNetwork, retainBlocks: null }
    const store = await openWriter(options, { log: pino({ enabled: false }) })
    t.after(() => store.close())
    await store.putSealedBlock(opaqueBlock(1))
    const root = openRoot(path)
    const meta = openExisting(root, 'meta') ?? assert.fail()
    const { value, version } = meta.getEntry(stateKey) ?? assert.fail()
    await meta.put(stateKey, value, version + 10)
    const refusal = {
      code: 'STORE_WRITE_FAILED',
      facts: { path, found: 'the file was changed by another program' },
    }
    await assert.rejects(store.putSealedBlock(opaqueBlock(2)), refusal)
    await assert.rejects(store.putSealedBlock(opaqueBlock(3)), refusal)
    assert.equal(meta.getEntry(stateKey)?.version, version + 10)
    assert.deepEqual(meta.getEntry(stateKey)?.value, value)
    await root.close()
  })
})
