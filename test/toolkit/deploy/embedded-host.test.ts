import assert from 'node:assert/strict'
import { test } from 'node:test'
import { embeddedEnvironment } from '../../../src/toolkit/deploy/embedded-host.ts'

test('a Host of the toolkit gets settings, and neither keys nor passwords of wallets', () => {
  const secrets = { VIEWMESH_PRIVATE_KEY: '0x01', VIEWMESH_WALLET_PASSWORD: 'secret' }
  const env = embeddedEnvironment(
    { ...secrets, LOG_LEVEL: 'debug', HOST_ADMIN_TOKEN: 'x' },
    { folder: '/folder', token: 'of this run' },
  )
  assert.deepEqual(
    Object.keys(env).filter((name) => name in secrets),
    [],
  )
  assert.deepEqual([env['LOG_LEVEL'], env['HOST_ADMIN_TOKEN']], ['debug', 'of this run'])
})
