import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openLenses } from './support/open-lenses.ts'

const describeThread = { does: 'describe' } as const

describe('a result in pieces', () => {
  test('arrives in order, however many pieces there are', async (t) => {
    const lenses = openLenses(t)
    const found: number[] = []
    const onPiece = (piece: Uint8Array, taken: () => void): void => {
      found.push(...piece)
      taken()
    }
    assert.equal(await lenses.command({ does: 'pieces', count: 100 }, { onPiece }), 'pieces')
    assert.deepEqual(
      found,
      Array.from({ length: 100 }, (_, index) => index),
    )
  })

  test('waits in its thread while four pieces are not taken', async (t) => {
    const lenses = openLenses(t)
    const waiting: (() => void)[] = []
    const fourth = Promise.withResolvers<void>()
    const onPiece = (_: Uint8Array, taken: () => void): void => {
      waiting.push(taken)
      if (waiting.length === 4) fourth.resolve()
    }
    const done = lenses.command({ does: 'pieces', count: 6 }, { onPiece })
    await fourth.promise
    for (let turn = 0; turn < 50; turn++) await setImmediate()
    assert.equal(waiting.length, 4)
    for (const taken of waiting) taken()
    assert.equal(await done, 'pieces')
    assert.equal(waiting.length, 6)
  })

  for (const stays of ['asking', 'deaf'] as const)
    test(`that nobody wants any more leaves a thread for others, where it is ${stays}`, async (t) => {
      const lenses = openLenses(t)
      const { pid } = Object(await lenses.command(describeThread))
      const controller = new AbortController()
      const onPiece = (_: Uint8Array, taken: () => void): void => {
        taken()
        controller.abort()
      }
      const job = { onPiece, signal: controller.signal }
      await assert.rejects(lenses.command({ does: 'pieces', count: 1, stays }, job), {
        name: 'AbortError',
      })
      assert.equal(Object(await lenses.command(describeThread)).pid, pid)
      assert.equal(lenses.ends(), 0)
    })

  test('stops while it waits for pieces that are never taken', async (t) => {
    const lenses = openLenses(t)
    const controller = new AbortController()
    let pieces = 0
    const onPiece = (): void => {
      pieces += 1
      if (pieces === 4) controller.abort()
    }
    const job = { onPiece, signal: controller.signal }
    await assert.rejects(lenses.command({ does: 'pieces', count: 9 }, job), { name: 'AbortError' })
    assert.deepEqual(await lenses.command({ does: 'large', bytes: 1 }), 'x')
    assert.equal(pieces, 4)
  })

  test('is not made again where the process ends', async (t) => {
    const lenses = openLenses(t, { threads: 2 })
    const started = Promise.withResolvers<void>()
    const { pid } = (await lenses.command(describeThread)) as { pid: number }
    const onPiece = (): void => started.resolve()
    const job = { onPiece, priority: 'query' } as const
    const pieced = lenses.command({ does: 'pieces', count: 1, stays: 'asking' }, job)
    await started.promise
    process.kill(pid, 'SIGKILL')
    await assert.rejects(pieced, { code: 'LENS_PROCESS_DIED' })
    assert.deepEqual(await lenses.command({ does: 'large', bytes: 1 }), 'x')
  })
})

test('a lens process without a job ends after a while and starts again for the next', async (t) => {
  const lenses = openLenses(t, { idleMs: 1 })
  const first = (await lenses.command(describeThread)) as { pid: number }
  while (lenses.ends() === 0) await setImmediate()
  const second = (await lenses.command(describeThread)) as { pid: number }
  assert.notEqual(second.pid, first.pid)
  assert.deepEqual(lenses.warnings, [])
})
