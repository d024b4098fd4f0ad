import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portUnavailable } from '../../../src/service/health/port-unavailable.ts'

const listen = { address: { host: 'node', port: 80 }, setting: 'HEALTH_ADDR' }
const failed = (code?: string): Error =>
  Object.assign(new Error('listen'), code === undefined ? {} : { code })

test('an address that cannot be listened on is reported with why', () => {
  const reasons = {
    EADDRINUSE: 'is taken by another program',
    EACCES: 'needs more rights than this user has',
    EADDRNOTAVAIL: 'does not belong to this machine',
    ENOTFOUND: 'is not a name this machine can resolve',
    EMFILE: 'cannot be listened on (EMFILE)',
  }
  for (const [code, reason] of Object.entries(reasons))
    assert.equal(
      portUnavailable(listen, failed(code)).message,
      `HEALTH_ADDR: the address node:80 ${reason}`,
    )
})

test('the error keeps its cause, and says from where the address follows', () => {
  const cause = failed()
  const error = portUnavailable({ ...listen, derivation: 'P2P_PORT is 80' }, cause)
  assert.equal(error.code, 'SERVICE_PORT_UNAVAILABLE')
  assert.equal(
    error.message,
    'HEALTH_ADDR: P2P_PORT is 80, and the address node:80 cannot be listened on (unknown)',
  )
  assert.deepEqual(error.facts, { setting: 'HEALTH_ADDR', host: 'node', port: 80 })
  assert.equal(error.remedy, 'Stop the program that uses it, or set HEALTH_ADDR to a free address.')
  assert.equal(error.cause, cause)
})
