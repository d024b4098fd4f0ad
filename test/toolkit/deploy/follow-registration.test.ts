/** How a registration that was sent ends where the chain does not take it, calls it another one, or says nothing. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { openDevelopmentRegistry } from '../../../src/devnet/registry/development-registry.ts'
import { ServiceError } from '../../../src/errors.ts'
import {
  createRegistryClient,
  type RegistrationReceipt,
  type RegistryClient,
} from '../../../src/registry/precompile/registry-client.ts'
import { followRegistration } from '../../../src/toolkit/deploy/follow-registration.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { hurry } from '../support/hurried-clock.ts'

const hex = (bytes: number, digits = '11'): string => `0x${digits.repeat(bytes)}`
const sent = {
  ...{ address: hex(20), creator: hex(20), wire: Uint8Array.of(1), hash: hex(32), cometUrl: null },
}
const mined = { succeeded: true, height: 3, gasUsed: 5n, address: sent.address }

type Status = 'none' | 'pending' | 'registered'

interface Answers {
  /** Default: `mined` is asked for, and nobody for reasons. */
  readonly sent?: Partial<Parameters<typeof followRegistration>[2]>
  readonly getView?: RegistryClient['getView']
  readonly receipt: RegistrationReceipt | null
  readonly status?: 'pending' | 'registered'
  readonly refusal?: () => Promise<string | null>
  readonly isTTY?: boolean
}

/** What following it came to, and what a terminal showed meanwhile. */
async function follow({ receipt, status, refusal, isTTY = false, ...more }: Answers) {
  let shown = ''
  const write = (text: string): void => {
    shown += text
  }
  const output = { write, isTTY, columns: 80 }
  const { signal } = new AbortController()
  const terminal = {
    ...{ stdin: Readable.from([]), stdout: output, stderr: output, signal },
    interrupt: () => undefined,
    ...{ env: {}, cwd: '/', homeFolder: '/' },
  }
  const client = {
    ...createRegistryClient('http://127.0.0.1:1', signal),
    receipt: async () => receipt,
    getView: more.getView ?? (async () => ({ status: status ?? 'pending', name: '', height: 3 })),
    refusal: refusal ?? (async () => null),
  } as const
  const ended = followRegistration(terminal, client, { ...sent, ...more.sent })
  const [registered, failure, remedy] = await ended.then(
    (found) => [found, null, undefined] as const,
    ({ code, message, ...error }: ServiceError) => [null, { code, message }, error.remedy] as const,
  )
  return { registered, failure, remedy, shown }
}

/** A View whose state is asked for at these times, in milliseconds since the beginning. */
function statesAt(t: TestContext, ...states: readonly (readonly [number, Status])[]) {
  let [now, asked] = [0, 0]
  t.mock.method(performance, 'now', () => now)
  return async () => {
    const [at, status] = states[asked++] ?? assert.fail('it is asked for too often')
    now = at
    return { status, name: '', height: 3 }
  }
}

test('a reverted transaction ends it, with the reason where the chain says one', async () => {
  const receipt = { ...mined, succeeded: false, address: null }
  const reasons = [
    [async () => 'no active ICA channel', 'no active ICA channel'],
    [async () => null, 'the chain gives no reason'],
    [async () => Promise.reject(new Error('away')), 'the chain gives no reason'],
  ] as const
  for (const [refusal, reason] of reasons)
    assert.deepEqual((await follow({ receipt, refusal })).failure, {
      code: 'TOOLKIT_REGISTRATION_REFUSED',
      message: `the transaction was reverted: ${reason}`,
    })
})

test('a View that the log of the chain calls by another address is not taken for this one', async () => {
  const other = hex(20, '22')
  const receipt = { ...mined, address: other }
  assert.deepEqual((await follow({ receipt, status: 'registered' })).failure, {
    code: 'REGISTRY_VIEW_MISMATCH',
    message: `the chain calls the View ${other}, and ${sent.address} follows from its bytes`,
  })
})

test('a transaction that is in no block is given up after two minutes', async (t) => {
  hurry(t, 600_000)
  assert.deepEqual((await follow({ receipt: null })).failure, {
    code: 'TOOLKIT_REGISTRATION_TIMEOUT',
    message: `${sent.hash} is in no block after two minutes`,
  })
})

test('a View that the other chain never acknowledges is given up as still pending', async (t) => {
  hurry(t, 600_000)
  assert.deepEqual((await follow({ receipt: mined })).failure, {
    code: 'TOOLKIT_REGISTRATION_TIMEOUT',
    message: `${sent.address} is still pending`,
  })
})

test('what is waited for is shown on a terminal, and nowhere else', async () => {
  const done = { receipt: mined, status: 'registered' } as const
  const registered = { height: 3, gasUsed: 5n }
  const ended = { registered, failure: null, remedy: undefined }
  assert.deepEqual(await follow(done), { ...ended, shown: '' })
  const clear = '\r\u001b[2K'
  assert.deepEqual(await follow({ ...done, isTTY: true }), {
    ...ended,
    shown: `${clear}waiting for a block${clear}`,
  })
})

test('a View is registered at the height of the chain, whose log need not name it', async () => {
  const status = 'registered'
  const unnamed = await follow({ receipt: { ...mined, height: 2, address: null }, status })
  assert.deepEqual(unnamed.registered, { height: 3, gasUsed: 5n })
  const ofOthers = await follow({ receipt: null, sent: { hash: null }, status })
  assert.deepEqual(ofOthers.registered, { height: 3, gasUsed: null })
})

test('a node that does not have the View yet is waited for, for five seconds', async (t) => {
  const late = statesAt(t, [1_000, 'none'], [6_000, 'none'], [6_001, 'registered'])
  assert.deepEqual((await follow({ receipt: mined, getView: late })).registered?.height, 3)
  t.mock.restoreAll()
  const never = statesAt(t, [1_000, 'none'], [6_000, 'none'], [6_001, 'none'])
  assert.deepEqual((await follow({ receipt: mined, getView: never })).failure, {
    code: 'TOOLKIT_REGISTRATION_REFUSED',
    message: 'the registration failed: the other chain refused it',
  })
})

test('a node that is out of reach at first is waited for from its first answer on', async (t) => {
  const states = statesAt(t, [10_000, 'none'], [20_000, 'none'], [20_001, 'registered'])
  let isReached = false
  const getView: RegistryClient['getView'] = async () => {
    const found = await states()
    if (isReached) return found
    isReached = true
    throw new ServiceError('REGISTRY_UNREACHABLE', 'nobody answers', { remedy: 'Start it.' })
  }
  assert.equal((await follow({ receipt: mined, getView })).registered?.height, 3)
})

test('a pending View is waited for, for six minutes, with how long that is', async (t) => {
  const getView = statesAt(t, [1_999, 'pending'], [360_000, 'pending'], [360_001, 'pending'])
  const { failure, shown } = await follow({ receipt: mined, getView, isTTY: true })
  assert.equal(failure?.message, `${sent.address} is still pending`)
  const [, , ...waits] = shown.split('\r\u001b[2K')
  assert.deepEqual(waits, [
    'pending for 1 s: the other chain has to acknowledge it',
    'pending for 360 s: the other chain has to acknowledge it',
    '',
  ])
})

test('why the chain dropped a View is guessed by whether it takes it now', async (t) => {
  const after = async (refusal: () => Promise<string | null>) => {
    const getView = statesAt(t, [1, 'pending'], [2, 'none'])
    const { failure, remedy } = await follow({ receipt: mined, getView, refusal })
    t.mock.restoreAll()
    return [failure?.message, remedy]
  }
  const unknown = [
    'the registration failed: the other chain refused it',
    'Deploy again; with --comet URL, or REGISTRY_RPC_URL, the reason is shown.',
  ]
  assert.deepEqual(await after(async () => null), unknown)
  assert.deepEqual(await after(async () => Promise.reject(new Error('away'))), unknown)
  assert.deepEqual(await after(async () => 'no active channel for this owner'), [
    'the registration failed: the other chain did not answer within five minutes',
    'The channel of the registry chain is closed; there is nothing to do but to try later.',
  ])
  assert.deepEqual(await after(async () => 'the query is empty'), [
    'the registration failed, and the chain refuses it now: the query is empty',
    'Remove the cause and deploy again.',
  ])
})

test('an older failure of a View that others sent is not taken for the one of now', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const wire = encodeView({ query: 'Log { data }', sdl: 'type V { data: String }', lenses: [] })
  const address = await registry.register(sent.creator, wire)
  await registry.settle({ failed: [address] })
  let now = 0
  t.mock.method(performance, 'now', () => {
    now += 3_000
    return now
  })
  const endOf = async (height: number): Promise<string | undefined> => {
    const states = ['pending', 'none'] as const
    let asked = 0
    const { failure } = await follow({
      receipt: null,
      sent: { address, wire, hash: null, cometUrl: registry.cometUrl },
      getView: async () => ({ status: states[asked++] ?? 'none', name: '', height }),
    })
    return failure?.message
  }
  const older = 'the registration failed: the other chain refused it'
  assert.equal(await endOf(1_000), older)
  assert.equal(await endOf(1), `${older}: ABCI code: 1: error handling packet`)
})
