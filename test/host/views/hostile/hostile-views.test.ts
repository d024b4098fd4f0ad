/** A whole Host with Views whose lenses do what they can against it: the head, /health and other Views go on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChain, shapes } from '../../../support/chain/block-factory.ts'
import { pause } from '../../../support/programs.ts'
import { openTestGenerator } from '../../../support/test-generator.ts'
import { watchHealth } from './support/health-watch.ts'
import { harmlessViews, hostileViews } from './support/hostile-views.ts'
import {
  type ListedView,
  openViewHost,
  slowestHealthMs,
  slowestRowsMs,
  within,
} from './support/view-host.ts'

test('hostile Views harm themselves alone: head, health and other Views of a Host go on', async (t) => {
  const blocks = createChain({ count: 3, from: 1, shape: shapes.tiny })
  const generator = await openTestGenerator(t, 'honest', blocks.slice(0, 1))
  const host = await openViewHost(t, generator)
  const health = watchHealth(t, host.healthUrl)
  for (const wire of [...hostileViews(), ...Object.values(harmlessViews)])
    assert.equal((await host.post(wire)).status, 201)
  for (const [index, block] of blocks.entries()) {
    if (index >= 1) await generator.publish([block])
    await host.untilHead(block.number)
    await within(slowestRowsMs, `Good has the rows of block ${block.number}`, async () => {
      const good = (await host.listed()).find(({ name }) => name === 'Good')
      return good?.done.some(({ to }) => to >= block.number) === true
    })
  }
  let views = await host.listed()
  const isOver = ({ name, rows, error }: ListedView): boolean =>
    error !== null || (name in harmlessViews && rows === blocks.length)
  for (; !views.every(isOver); await pause(50)) views = await host.listed()
  for (const { name, rows, error } of views) {
    const isHarmless = name in harmlessViews
    assert.equal(rows, isHarmless ? blocks.length : 0, name)
    assert.match(error?.code ?? '', isHarmless ? /^$/ : /^LENS_/, name)
  }
  const slowestMs = await health.slowestMs()
  assert.ok(slowestMs < slowestHealthMs, `/health answered within ${slowestMs} ms`)
  assert.equal((await host.health()).status, 200)
  assert.deepEqual(host.captured.messages('fatal'), [])
})
