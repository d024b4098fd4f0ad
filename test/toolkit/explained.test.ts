/** Messages of the service page that the toolkit says: each is found by its text in docs/troubleshooting.md. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { assertExplained } from '../docs/support/explained.ts'
import { openTestTerminal } from './support/test-terminal.ts'

const said: Readonly<Record<string, readonly string[]>> = {
  "invalid target 'testnet'. Must be one of: local, devnet, mainnet": [
    ...['view', 'deploy', 'Things', '--target', 'testnet'],
  ],
  '--rpc is required when --target is devnet': ['view', 'deploy', 'Things', '--target', 'devnet'],
  'either --path or --url must be provided': ['view', 'add', 'lens', '--name', 'Things'],
  'invalid --args JSON: it is not an object': [
    ...['view', 'add', 'lens', '--name', 'Things', '--label', 'a', '--path', 'x', '--args', '[]'],
  ],
}

for (const [message, argv] of Object.entries(said))
  test(`"${message}" is said and explained`, async (context) => {
    const { run, json } = await openTestTerminal(context)
    await json('view', 'init', 'Things')
    const { exitCode, stderr } = await run(argv)
    assert.equal(exitCode, 2)
    const [first = '', next = ''] = stderr.split('\n')
    assert.equal(first, `error: ${message}`)
    assertExplained({ code: 'TOOLKIT_USAGE_INVALID', message, remedy: next })
  })

test('"collection already exists" is what deploying says, and is explained', () => {
  const source = readFileSync(new URL('../../src/toolkit/deploy/local.ts', import.meta.url), 'utf8')
  assert.ok(source.includes("'collection already exists'"))
  assertExplained({ message: 'collection already exists' })
})

test('messages of a native library are explained as ones that cannot occur', () => {
  assertExplained({ message: 'image not found' })
  assertExplained({ message: 'library not loaded (WebAssembly runtime library)' })
})
