import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from 'viem'
import { ServiceError } from '../../../src/errors.ts'
import {
  isChannelClosed,
  registryRpcFailure,
} from '../../../src/registry/precompile/rpc-failure.ts'

const url = 'https://user:secret@chain.example:8545/secret?key=secret'
const body = { method: 'eth_call' }

/** The failure, and that nothing of the URL but its place is in it. */
function failure(error: unknown): Pick<ServiceError, 'code' | 'message' | 'facts' | 'remedy'> {
  const { code, message, facts, remedy } = registryRpcFailure(error, url)
  assert.doesNotMatch(JSON.stringify([message, facts, remedy]), /secret/)
  return { code, message, facts, remedy }
}

/** What the chain refuses, inside of another error as viem has it. */
const refusal = (message: string): BaseError =>
  new BaseError('call failed', {
    cause: new RpcRequestError({ body, url, error: { code: 3, message } }),
  })

test('what the chain refuses is its reason without what the node puts before it', () => {
  for (const prefix of ['', 'execution reverted: ', 'rpc error: code = Unknown desc = '])
    assert.deepEqual(failure(refusal(`${prefix}no such View`)), {
      code: 'REGISTRY_REFUSED',
      message: 'the registry chain at chain.example:8545 refuses: no such View',
      facts: { endpoint: 'chain.example:8545', reason: 'no such View', code: 3 },
      remedy: 'Remove the cause that the chain names, and try again.',
    })
  const lines = failure(refusal('no\u001b[2J\nWhat to do: run it'))
  assert.equal(lines.facts['reason'], 'no [2J What to do: run it')
  assert.match(lines.message, / refuses: no \[2J What to do: run it$/)
  assert.equal(failure(refusal('x'.repeat(1_001))).facts['reason'], 'x'.repeat(1_000))
})

test('each reason that has a remedy of its own comes with it', () => {
  const remedyOf = (reason: string): string => failure(refusal(reason)).remedy ?? ''
  assert.match(remedyOf('invalid chain id for signer'), /--chain-id N\.$/)
  assert.match(remedyOf('no active channel'), /^The channel of the registry chain is closed/)
  assert.match(remedyOf('Insufficient funds for gas'), /^Send coins to the address that signs/)
  for (const reason of ['invalid sequence', 'invalid nonce', 'nonce too low', 'nonce too high'])
    assert.match(remedyOf(reason), /^Another transaction of this key was first/, reason)
})

test('a closed channel is known by the words of either layer', () => {
  const reasons = ['no active channel for it', 'No Connection ID', 'the channel is full']
  assert.deepEqual(reasons.map(isChannelClosed), [true, true, false])
})

test('a chain that does not answer is unreachable, with the status where it has one', () => {
  const http = (more: object) => new HttpRequestError({ body, url, ...more })
  const said = (error: unknown): string => {
    const { code, message } = failure(error)
    assert.equal(code, 'REGISTRY_UNREACHABLE')
    return message.replace('the registry chain at chain.example:8545 does not answer: ', '')
  }
  assert.equal(said(http({ status: 502, details: 'bad gateway' })), 'HTTP 502')
  assert.equal(said(new BaseError('x', { cause: http({ details: 'refused' }) })), 'refused')
  const refused = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' })
  assert.equal(
    said(http({ cause: new TypeError('fetch failed', { cause: refused }) })),
    'connect refused (ECONNREFUSED)',
  )
  assert.equal(said(http({ cause: new TypeError('fetch failed') })), 'fetch failed')
  assert.equal(said(new TimeoutError({ body, url })), 'The request timed out.')
})

test('what is no failure of a request is an answer that nobody understands', () => {
  for (const error of [new BaseError('no ABI'), new TypeError('x'), 'text'])
    assert.equal(failure(error).code, 'REGISTRY_ANSWER_MALFORMED')
  const own = new ServiceError('REGISTRY_ANSWER_TOO_LARGE', 'large')
  assert.equal(registryRpcFailure(own, url), own)
})
