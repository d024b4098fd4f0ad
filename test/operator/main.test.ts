import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorSettings } from '../../operator/settings.ts'
import { readVersion } from '../../src/service/version.ts'
import { type ChildResult, startChild } from '../support/child-program.ts'

const images = { GENERATOR_IMAGE: 'generator:1', HOST_IMAGE: 'host:1' }

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return startChild('operator/main.ts', { args, env }).ended()
}

function lastError({ stdout }: ChildResult): { code: string; message: string; remedy: string } {
  const line = stdout.split('\n').find((text) => text.includes('"level":"fatal"')) ?? '{}'
  return JSON.parse(line).err
}

test('--help lists every setting, --version says the version', async () => {
  const help = await run(['--help'])
  assert.equal(help.code, 0)
  for (const { env } of Object.values(operatorSettings)) assert.ok(help.stdout.includes(env), env)
  const longest = Math.max(...help.stdout.split('\n').map(({ length }) => length))
  assert.ok(longest > 80 && longest <= 100, `without a terminal it is 100 wide, not ${longest}`)
  const version = await run(['--version'])
  assert.deepEqual([version.code, version.stdout], [0, `${readVersion()}\n`])
})

test('all errors in the settings are reported in one message, and the exit code is 1', async () => {
  const env = { ...images, WATCH_NAMESPACES: 'apps,Wrong_Name', LEADER_ELECT: 'perhaps' }
  const result = await run(['--workers', '0'], env)
  assert.equal(result.code, 1)
  assert.deepEqual(lastError(result).message.split('\n'), [
    '3 problems in the configuration:',
    '  - WATCH_NAMESPACES: found "Wrong_Name", accepted is a DNS label, as names of namespaces are',
    '  - LEADER_ELECT: found "perhaps", accepted is true or false, yes or no, on or off, 1 or 0',
    '  - --workers: found "0", accepted is a whole number from 1 to 64',
  ])
})

test('times of the Lease that contradict each other are refused before anything starts', async () => {
  const result = await run(['--leader-lease-duration', '10000', '--leader-retry-period', '6000'], {
    ...images,
  })
  assert.equal(result.code, 1)
  assert.deepEqual(lastError(result).message.split('\n'), [
    '2 problems in the configuration:',
    '  - leader.renew_deadline (10000 ms) has to be shorter than leader.lease_duration (10000 ms): else two operators could write at once',
    '  - leader.retry_period (6000 ms) has to be half of leader.renew_deadline (10000 ms) at most: else one failed attempt would stop all writing',
  ])
})

test('the log is text where that is asked for, and JSON in a pipe otherwise', async () => {
  const asked = await run([], {
    ...images,
    LOG_FORMAT: 'text',
    HEALTH_ADDR: '127.0.0.1:0',
    METRICS_ADDR: '127.0.0.1:0',
  })
  assert.equal(asked.code, 1)
  assert.match(asked.stdout, /operator: health and metrics are served/)
  assert.doesNotMatch(asked.stdout, /^{/m)
})

test('outside a cluster it reports that and exits with 1', async () => {
  const addresses = { HEALTH_ADDR: '127.0.0.1:0', METRICS_ADDR: '127.0.0.1:0' }
  const result = await run([], { ...images, ...addresses })
  assert.equal(result.code, 1)
  assert.equal(lastError(result).code, 'OPERATOR_CONNECTION_MISSING')
})

test('nothing in the environment makes it end at a write, as tests have it do', async () => {
  const addresses = { HEALTH_ADDR: '127.0.0.1:0', METRICS_ADDR: '127.0.0.1:0' }
  const asked = { OPERATOR_TEST_DIE_AT: 'no such write', DIE_AT: 'no such write' }
  const result = await run([], { ...images, ...addresses, ...asked })
  assert.equal(lastError(result).code, 'OPERATOR_CONNECTION_MISSING')
})
