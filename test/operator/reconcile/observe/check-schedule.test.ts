/** When replicas are asked again. No clock runs here: times are what a test says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCheckSchedule } from '../../../../operator/reconcile/observe/check-schedule.ts'

const intervalMs = 40_000

function scheduleAt(
  time: { nowMs: number },
  isEven = false,
): ReturnType<typeof createCheckSchedule> {
  return createCheckSchedule({ intervalMs, isEven }, () => time.nowMs)
}

/** The bounds of the next so many pauses; chance takes off up to half. */
function assertPauses(
  times: ReturnType<typeof createCheckSchedule>,
  mostMs: readonly number[],
): void {
  for (const most of mostMs) {
    const pauseMs = times.nextMs()
    assert.ok(pauseMs >= most / 2 && pauseMs <= most, `${pauseMs} of ${most}`)
  }
}

test('the first pause is two seconds at most, each further one double, up to the interval', () => {
  const times = scheduleAt({ nowMs: 0 })
  assertPauses(times, [2_000, 4_000, 8_000, 16_000, 32_000, 40_000, 40_000])
})

test('after a change pauses begin again', () => {
  const times = scheduleAt({ nowMs: 0 })
  assertPauses(times, [2_000, 4_000, 8_000])
  assert.equal(times.change(), true)
  assertPauses(times, [2_000, 4_000])
})

test('who says something else each time is asked soon six times a minute, and then as the others', () => {
  const beginMs = 1_000_000
  const time = { nowMs: beginMs }
  const times = scheduleAt(time)
  for (let change = 0; change < 6; change += 1) {
    assert.equal(times.change(), true)
    assertPauses(times, [2_000])
  }
  assert.equal(times.change(), false)
  assertPauses(times, [4_000, 8_000])
  time.nowMs = beginMs + 59_999
  assert.equal(times.change(), false)
  time.nowMs = beginMs + 60_000
  assert.equal(times.change(), true)
  assertPauses(times, [2_000])
})

test('an external address is asked at the same pauses, whatever changes', () => {
  const times = scheduleAt({ nowMs: 0 }, true)
  assertPauses(times, [40_000])
  times.change()
  assertPauses(times, [40_000, 40_000])
})
