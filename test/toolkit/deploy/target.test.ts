import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestTerminal } from '../support/test-terminal.ts'

/** Also: "The toolkit supports targets `local` and `devnet`; `mainnet` is not yet supported", "There is no `testnet` target". */
const rows = [
  {
    flags: ['--target', 'testnet'],
    exitCode: 2,
    message: "invalid target 'testnet'. Must be one of: local, devnet, mainnet",
  },
  {
    flags: ['--target', 'devnet'],
    exitCode: 2,
    message: '--rpc is required when --target is devnet',
  },
  { flags: ['--target', 'mainnet'], exitCode: 1, message: "target 'mainnet' not yet supported" },
]

for (const { flags, exitCode, message } of rows)
  test(`a wrong target ends with the message of the service page: "${message}"`, async (context) => {
    const { run, json } = await openTestTerminal(context)
    await json('view', 'init', 'Things')
    const result = await run(['view', 'deploy', 'Things', ...flags])
    assert.deepEqual(
      [result.exitCode, result.stderr.split('\n')[0]],
      [exitCode, `error: ${message}`],
    )
    assert.equal(/^Usage: /m.test(result.stderr), exitCode === 2)
  })

test('a deployment without a target is wrong usage', async (context) => {
  const { run } = await openTestTerminal(context)
  const { exitCode, stderr } = await run(['view', 'deploy', 'Things'])
  assert.equal(exitCode, 2)
  assert.match(stderr, /^error: required option '--target <target>' not specified\nUsage: /)
})
