import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyTwiceStatement } from '../../../../operator/reconcile/evaluate/key-twice.ts'
import type { KeptPod } from '../../../../operator/reconcile/observe/pod.ts'
import { readGenerator } from '../../../support/resources/operator-cases.ts'
import { podWith } from '../../support/operator-findings.ts'

const generator = readGenerator('generator-minimal')
const endedMs = Date.parse('2026-01-01T12:00:00Z')

/** A Generator that ended with this error and runs again. */
function endedWith(code: string): KeptPod {
  const err = { code, message: 'its key signs in two places.' }
  return podWith(generator, {
    ready: true,
    state: { running: { startedAt: new Date(endedMs + 1_000) } },
    lastState: {
      terminated: {
        exitCode: 1,
        finishedAt: new Date(endedMs),
        message: JSON.stringify({ level: 'fatal', err }),
      },
    },
  })
}

const after = (minutes: number, pod: KeptPod): ReturnType<typeof keyTwiceStatement> =>
  keyTwiceStatement({
    pods: new Map([
      [0, pod],
      [1, podWith(generator, {})],
    ]),
    observedMs: endedMs + minutes * 60_000,
  })

test('a Generator that stopped since its key runs twice is reported, also while it runs again', () => {
  assert.deepEqual(after(10, endedWith('GENERATOR_KEY_RUNS_TWICE')), {
    reason: 'KeyRunsTwice',
    message:
      'its key signs in two places (GENERATOR_KEY_RUNS_TWICE). Stop the other program, which has a copy of its key directory; a second Generator needs a key directory of its own.',
  })
})

test('half an hour without it is taken for the end of it, and other ends are none of it', () => {
  assert.notEqual(after(29.9, endedWith('GENERATOR_KEY_RUNS_TWICE')), null)
  assert.equal(after(30, endedWith('GENERATOR_KEY_RUNS_TWICE')), null)
  assert.equal(after(1, endedWith('CHAIN_TIMEOUT')), null)
})
