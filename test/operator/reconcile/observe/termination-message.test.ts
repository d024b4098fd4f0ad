import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { keepPod } from '../../../../operator/reconcile/observe/pod.ts'
import {
  parseTerminationMessage,
  terminationText,
} from '../../../../operator/reconcile/observe/termination-message.ts'
import { ServiceError } from '../../../../src/errors.ts'
import { openLog } from '../../../../src/service/log.ts'

const locked = new ServiceError('IDENTITY_LOCKED', 'the key file does not open', {
  facts: { path: '/app/.viewmesh/keys' },
  remedy: 'Put the old keyring secret back.',
})
/** What is known of an end beside its message, where the program reported no more. */
const silent = { code: null, remedy: null, difference: null }
const backOff = 'back-off 5m0s restarting failed container=generator'

/** The end of a program's log in a pipe: it says why it fails, then closes its parts. */
function endOfLog(error: unknown): string {
  const lines: string[] = []
  const options = { name: 'generator', level: 'info', pretty: false } as const
  const log = openLog(options, { write: (line) => lines.push(line) })
  log.info({ height: 7 }, 'block sealed')
  log.fatal({ err: error }, 'failed')
  log.info('stopped')
  return lines.join('')
}

function crashing(ended: V1ContainerStatus['lastState'], ready = false): V1Pod {
  const state = ready
    ? { running: {} }
    : { waiting: { reason: 'CrashLoopBackOff', message: backOff } }
  const container = { name: 'generator', image: '', imageID: '', ready, restartCount: 5, state }
  return {
    metadata: { name: 'a-generator-0' },
    status: { containerStatuses: [{ ...container, ...(ended && { lastState: ended }) }] },
  }
}

const failureOf = (ended: V1ContainerStatus['lastState']): string | undefined =>
  keepPod(crashing(ended)).failure?.message

test('a program that fails says in its condition what happened, with its code and what to do', () => {
  const message = endOfLog(locked)
  assert.deepEqual(parseTerminationMessage(message), {
    code: 'IDENTITY_LOCKED',
    message: 'the key file does not open',
    remedy: 'Put the old keyring secret back.',
    difference: null,
  })
  assert.equal(
    failureOf({ terminated: { exitCode: 1, reason: 'Error', message } }),
    'container generator: CrashLoopBackOff (ended with code 1): the key file does not open (IDENTITY_LOCKED). Put the old keyring secret back.',
  )
})

test('a mistake of the program says its message alone', () => {
  const words = parseTerminationMessage(endOfLog(new TypeError('x is not a function')))
  assert.deepEqual(words, { ...silent, message: 'x is not a function' })
})

test('a program without a termination message is reported as Kubernetes reports it', () => {
  const running = '{"level":"info","name":"generator","msg":"block sealed"}\n'
  assert.equal(parseTerminationMessage(running), null)
  assert.equal(parseTerminationMessage(undefined), null)
  assert.equal(
    failureOf({ terminated: { exitCode: 137, reason: 'OOMKilled', message: running } }),
    'container generator: CrashLoopBackOff (OOMKilled, code 137). Raise the memory limit of the container in spec.podTemplate.',
  )
  assert.equal(
    failureOf(undefined),
    'container generator: CrashLoopBackOff. See its log with kubectl logs --previous.',
  )
})

test('a container that cannot be made says what lacks', () => {
  const waiting = { reason: 'CreateContainerConfigError', message: 'secret "a" not found' }
  const [container] = crashing(undefined).status?.containerStatuses ?? []
  const pod = { status: { containerStatuses: [{ ...container, state: { waiting } }] } } as V1Pod
  assert.equal(
    keepPod(pod).failure?.message,
    'container generator: CreateContainerConfigError: secret "a" not found. Correct spec.podTemplate, or make what it refers to.',
  )
})

test('a crash of the runtime says its last line', () => {
  const words = parseTerminationMessage('{"level":"info"}\nFatal error: out of memory\n\n')
  assert.deepEqual(words, { ...silent, message: 'Fatal error: out of memory' })
  const indented = parseTerminationMessage('Fatal error:\n  out of memory \n')
  assert.equal(indented?.message, 'out of memory')
})

test('what a program has and should have is known where its failure has both, within a bound', () => {
  const differenceOf = (facts: object, level = 'fatal'): unknown =>
    parseTerminationMessage(JSON.stringify({ level, err: { message: 'x', facts } }))?.difference
  const [found, expected] = ['f'.repeat(129), 'e'.repeat(129)]
  assert.deepEqual(differenceOf({ found, expected }), {
    found: found.slice(1),
    expected: expected.slice(1),
  })
  assert.equal(differenceOf({ found }), null)
  assert.equal(differenceOf({ expected }), null)
})

test('a failure that a program got over is not why it ended', () => {
  const [passing, last] = [{ message: 'for a moment' }, { message: 'for good' }]
  const line = (level: string, err: object): string => JSON.stringify({ level, err })
  const log = [line('fatal', last), line('error', passing)].join('\n')
  assert.equal(parseTerminationMessage(log)?.message, 'for good')
  assert.equal(parseTerminationMessage(line('error', passing)), null)
})

test('what is kept of a failure has a bound, and no shape is trusted', () => {
  const fatalLine = (err: unknown): string => JSON.stringify({ level: 'fatal', err })
  for (const [length, kept] of [
    [400, 400],
    [401, 400],
  ] as const) {
    assert.equal(
      parseTerminationMessage(fatalLine({ message: 'x'.repeat(length) }))?.message.length,
      kept,
    )
    assert.equal(parseTerminationMessage('x'.repeat(length))?.message.length, kept)
  }
  for (const [length, kept] of [
    [300, 300],
    [301, 300],
  ] as const) {
    const remedy = 'x'.repeat(length)
    assert.equal(parseTerminationMessage(fatalLine({ message: 'x', remedy }))?.remedy?.length, kept)
  }
  for (const text of [
    '{',
    '{"level":"fatal"}',
    fatalLine(null),
    fatalLine({ message: 1 }),
    fatalLine('x'),
  ]) {
    assert.equal(parseTerminationMessage(text), null, text)
  }
  const odd = parseTerminationMessage(fatalLine({ message: 'x', code: 'not a code', remedy: 1 }))
  assert.deepEqual(odd, { ...silent, message: 'x' })
  assert.equal(terminationText({ ...silent, message: 'x' }), 'x')
})

test('of an end that is over nothing is reported', () => {
  const { failure } = keepPod(crashing({ terminated: { exitCode: 1, message: 'no' } }, true))
  assert.equal(failure, null)
})
