import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator } from '../../../operator/api.ts'
import { type GeneratorFacts, generatorLogic } from '../../../operator/reconcile/generator-logic.ts'
import { type HealthView, parseHealth } from '../../../operator/reconcile/observe/health-view.ts'
import type { Statement } from '../../../operator/reconcile/statements/problem.ts'
import { childNames } from '../../../operator/resources/names/names.ts'
import { builtinTypes } from '../../../operator/runtime/client/resource-type.ts'
import { generatorContext, readGenerator } from '../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../support/kubernetes-room.ts'
import { emptyState } from '../support/operator-findings.ts'

const room = kubernetesRoom()

const fetch: (generator: Generator) => ReturnType<typeof generatorLogic.fetch> = (generator) =>
  generatorLogic.fetch(generator, {
    api: room.client.api,
    options: generatorContext,
    recorded: emptyState.recordedDiscovered,
    named: new Map(),
    hadPods: false,
    addresses: [],
    now: () => new Date(0),
    signal: new AbortController().signal,
  })

async function holdOf(generator: Generator): Promise<Statement | null> {
  const { facts } = await fetch(generator)
  return generatorLogic.hold(generator, facts)
}

test('pods wait for the Service of the execution node, and the message names it', async () => {
  const generator = readGenerator('generator-minimal')
  assert.deepEqual(await holdOf(generator), {
    reason: 'WaitingForUpstream',
    message:
      'Service validators/geth of the execution node does not exist: create it, or correct spec.upstream.',
  })
  room.server.put('/api/v1/namespaces/validators/services/geth', { spec: {} } as never)
  assert.equal(await holdOf(generator), null)
})

test('pods do not wait for those of a podSelector, nor for a URL', async () => {
  assert.equal(await holdOf(readGenerator('generator-pods')), null)
  assert.equal(await holdOf(readGenerator('generator-url')), null)
})

test('keys to its schema are written when there are none, where it is to be found always', async () => {
  const generator = readGenerator('generator-url')
  const namesOf = async (): Promise<unknown[]> => {
    const { secrets } = await fetch(generator)
    for (const secret of secrets) await room.client.api.apply(builtinTypes.Secret, secret)
    return secrets.map(({ metadata }) => metadata?.name)
  }
  const { schemaKeys, connection } = childNames(generator)
  assert.deepEqual(await namesOf(), [schemaKeys, connection])
  assert.deepEqual(await namesOf(), [connection])
})

const facts: GeneratorFacts = {
  ...{ executionNode: null, missingService: null, hiddenService: null, closedService: null },
  schemaKeysRenewed: null,
}

/** What is said of the execution node where the replica says this, or said this before it ended. */
function upstreamOf(
  { view, code }: { readonly view?: HealthView | null; readonly code?: string },
  more: Partial<GeneratorFacts> = {},
): Statement | undefined {
  const message = 'The execution node is of chain 5.'
  const ended = { message, code: code ?? '', remedy: '', context: {} }
  return generatorLogic.statements(
    readGenerator('generator-minimal'),
    { ...facts, ...more },
    {
      views: new Map(view === undefined ? [] : [[0, view]]),
      terminationMessages: new Map(code === undefined ? [] : [[0, ended as never]]),
    },
  ).UpstreamReachable
}

test('what a program said before it ended counts until it answers again', () => {
  const view = parseHealth('{"program": "generator", "upstream_mode": "websocket"}')
  const code = 'GENERATOR_CHAIN_MISMATCH'
  assert.equal(upstreamOf({ code })?.reason, 'WrongChain')
  assert.equal(upstreamOf({ view: null, code })?.reason, 'WrongChain')
  assert.equal(upstreamOf({ view, code })?.reason, upstreamOf({ view })?.reason)
  assert.notEqual(upstreamOf({ view, code })?.reason, 'WrongChain')
  assert.equal(upstreamOf({ code: 'STORE_FULL' })?.reason, upstreamOf({})?.reason)
})

test('why it is not kept near its execution node is said beside how that answers', () => {
  const { reason, message = '' } = upstreamOf({}) ?? {}
  const remarked = upstreamOf({}, { hiddenService: 'nodes/geth' })
  assert.equal(remarked?.reason, reason)
  const remark = 'The Generator is not kept near its execution node, since the operator may not'
  assert.ok(remarked?.message.startsWith(`${message} ${remark}`), remarked?.message)
  assert.doesNotMatch(message, /kept near/)
})
