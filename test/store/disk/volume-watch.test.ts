/** What programs say of the volume that their store lies on. */
import assert from 'node:assert/strict'
import { mkdirSync, rmdirSync, statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { isNearlyFull, openVolumeWatch } from '../../../src/store/disk/volume-watch.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { metricValue } from '../../support/metric-value.ts'
import { testDirectory } from '../../support/test-store.ts'
import { startOnSmallVolume } from '../support/small-volume.ts'

const gib = 1024 ** 3

describe('a volume is nearly full', () => {
  const cases = [
    ['a small volume with a tenth free', 10 * gib, gib, false],
    ['a small volume with a byte less', 10 * gib, gib - 1, true],
    ['a large disk with 10 GiB free, however small a part that is', 4000 * gib, 10 * gib, false],
    ['a large disk with a byte less', 4000 * gib, 10 * gib - 1, true],
    ['a volume on which nothing is left', gib, 0, true],
    ['a volume without a size, as some file systems tell it', 0, 0, false],
  ] as const
  for (const [size, bytes, freeBytes, expected] of cases) {
    it(`${expected ? 'as' : 'unlike'} ${size}`, () =>
      assert.equal(isNearlyFull({ bytes, freeBytes }), expected))
  }

  it('only ever with less than 10 GiB and less than a tenth free, and no less so with less free', () => {
    const size = fc.maxSafeNat()
    fc.assert(
      fc.property(size, size, size, (bytes, freeBytes, less) => {
        const is = isNearlyFull({ bytes, freeBytes })
        if (is) assert.ok(freeBytes < 10 * gib && freeBytes < bytes / 10)
        const isWithLess = isNearlyFull({ bytes, freeBytes: Math.min(less, freeBytes) })
        assert.ok(isWithLess || !is)
      }),
    )
  })
})

describe('the volume of a store', () => {
  const log = pino({ enabled: false })

  it('is reported in bytes as metrics', async (t) => {
    const path = testDirectory(t)
    const registry = new Registry()
    const watch = await openVolumeWatch({ path }, { log, registry })
    t.after(watch.close)
    const { blocks, bsize } = statfsSync(path)
    const bytes = await metricValue(registry, 'viewmesh_store_volume_bytes')
    const freeBytes = await metricValue(registry, 'viewmesh_store_volume_free_bytes')
    assert.ok(bytes > 0 && bytes <= blocks * bsize)
    assert.ok(freeBytes >= 0 && freeBytes <= bytes)
    assert.equal(watch.failure() !== null, isNearlyFull({ bytes, freeBytes }))
  })

  it('that cannot be read is no failure, and has no metrics', async (t) => {
    const registry = new Registry()
    const path = join(testDirectory(t), 'nowhere')
    const watch = await openVolumeWatch({ path }, { log, registry })
    t.after(watch.close)
    assert.equal(watch.failure(), null)
    assert.doesNotMatch(await registry.metrics(), /^viewmesh_store_volume/m)
  })

  it('is looked at every ten seconds, until the watch is closed', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const registry = new Registry()
    const path = join(testDirectory(t), 'volume')
    mkdirSync(path)
    const watch = await openVolumeWatch({ path }, { log, registry })
    t.after(watch.close)
    const isKnown = async (): Promise<boolean> => {
      // Takes as long as a look does.
      await statfs('/')
      return /^viewmesh_store_volume/m.test(await registry.metrics())
    }
    rmdirSync(path)
    t.mock.timers.tick(9_999)
    assert.ok(await isKnown())
    t.mock.timers.tick(1)
    while (await isKnown());
    mkdirSync(path)
    watch.close()
    t.mock.timers.tick(10_000)
    for (let times = 0; times < 10; times++) assert.ok(!(await isKnown()))
  })
})

describe('a program whose volume has little room left', { concurrency: true }, () => {
  for (const [program, settings, before] of [
    ['host', {}, ['HOST_NO_SIGNER']],
    ['generator', { NODE_RPC_URL: 'http://127.0.0.1:1' }, ['CHAIN_UNREACHABLE']],
  ] as const) {
    it(`${program}: is healthy and reports it after worse failures, until there is room again`, async (t) => {
      const running = await startOnSmallVolume(t, program, settings)
      if (running === null) return t.skip('this machine lets nobody mount a small file system')
      const { errors } = await running.reports(
        (report) => report.status === 'healthy' && report.errors.length > before.length,
      )
      assert.deepEqual(
        errors.map(({ code }) => code),
        [...before, 'STORE_NEARLY_FULL'],
      )
      const { message = '', remedy } = errors.at(-1) ?? {}
      assertExplained({ code: 'STORE_NEARLY_FULL', message, remedy })
      const pattern = new RegExp(
        `^The volume of the store at ${running.storePath} is nearly full: (\\d+) of 33554432 bytes are free\\.$`,
      )
      const [, free] = pattern.exec(message) ?? []
      assert.ok(Number(free) < 3_355_443, message)
      assert.equal(
        remedy,
        'Make the volume larger, or free space on it. Keeping fewer blocks (PRUNER_ENABLED, PRUNER_MAX_BLOCKS) stops the store from growing; its file does not shrink.',
      )
      assert.match(await running.metrics(), /^viewmesh_store_volume_bytes 33554432$/m)

      running.makeRoom()
      const after = await running.reports((report) => report.errors.length === before.length)
      assert.equal(after.status, 'healthy')
      const [, left] =
        /^viewmesh_store_volume_free_bytes (\S+)$/m.exec(await running.metrics()) ?? []
      assert.ok(Number(left) > 30_000_000)
    })
  }
})
