/** Flags of `view deploy` that would be ignored are refused before anything is posted or sent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDeployFlags, type DeployFlags } from '../../../src/toolkit/deploy/deploy-flags.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const nowhere = 'http://127.0.0.1:1'
const devnet = ['--target', 'devnet', '--rpc', nowhere]

for (const [flags, typed] of [
  [['--dry-run'], '--dry-run'],
  [['--prepare', 'file'], '--prepare'],
  [['--send', 'file'], '--send'],
  [['--yes'], '--yes'],
  [['--max-fee', '1'], '--max-fee'],
  [['--chain-id', '1'], '--chain-id'],
  [['--rpc', nowhere], '--rpc'],
  [['--wallet', 'mine'], '--wallet'],
  [['--key-file', 'key'], '--key-file'],
  [['--password-file', 'password'], '--password-file'],
] as const)
  test(`${typed} with --target local is wrong usage, and nothing is posted`, async (t) => {
    const { run, json } = await openTestTerminal(t)
    await json('view', 'init', 'Things')
    const target = ['--target', 'local', '--host', nowhere]
    const { exitCode, stderr } = await run(['view', 'deploy', 'Things', ...target, ...flags])
    const message = `error: ${typed} is a flag of --target devnet, and --target local is given`
    // A Host that is asked and not there ends with 3.
    assert.deepEqual([exitCode, stderr.split('\n')[0]], [2, message])
  })

for (const flags of [
  ['--host', nowhere],
  ['--admin-token-file', 'token'],
] as const)
  test(`${flags[0]} with --target devnet is wrong usage`, async (t) => {
    const { run, json } = await openTestTerminal(t)
    await json('view', 'init', 'Things')
    const { exitCode, stderr } = await run(['view', 'deploy', 'Things', ...devnet, ...flags])
    const message = `error: ${flags[0]} is a flag of --target local, and --target devnet is given`
    assert.deepEqual([exitCode, stderr.split('\n')[0]], [2, message])
  })

for (const [one, other] of [
  [
    ['--prepare', 'new'],
    ['--send', 'old'],
  ],
  [['--prepare', 'new'], ['--dry-run']],
  [
    ['--send', 'old'],
    ['--wallet', 'mine'],
  ],
  [
    ['--send', 'old'],
    ['--key-file', 'key'],
  ],
  [
    ['--send', 'old'],
    ['--password-file', 'password'],
  ],
] as const)
  test(`${one[0]} together with ${other[0]} is wrong usage that names both`, async (t) => {
    const { run, json } = await openTestTerminal(t)
    await json('view', 'init', 'Things')
    const argv = ['view', 'deploy', 'Things', ...devnet, ...one, ...other]
    const { exitCode, stderr } = await run(argv)
    const message = `error: both ${one[0]} and ${other[0]} are given`
    assert.deepEqual([exitCode, stderr.split('\n')[0]], [2, message])
  })

/** What flags of one target are refused with; null where they are taken. */
function refusal(flags: Partial<DeployFlags>, target: 'local' | 'devnet'): string | null {
  try {
    checkDeployFlags({ target, ...flags }, target)
    return null
  } catch (error) {
    const { code, message } = error as { readonly code: string; readonly message: string }
    assert.equal(code, 'TOOLKIT_USAGE_INVALID')
    return message
  }
}

test('each flag belongs to one target, and those of the target are taken', () => {
  const local = { host: 'h', adminTokenFile: 't' }
  const project = { rpc: 'r', comet: 'c', chainId: '1', maxFee: '1', wallet: 'w', keyFile: 'k' }
  assert.equal(refusal({ ...local, json: true }, 'local'), null)
  assert.equal(
    refusal({ ...project, passwordFile: 'p', dryRun: true, yes: true, json: true }, 'devnet'),
    null,
  )
  for (const [flag, typed] of [
    ['comet', '--comet'],
    ['viewFile', '--view-file'],
    ['report', '--report'],
  ] as const)
    assert.equal(
      refusal({ [flag]: 'x' }, 'local'),
      `${typed} is a flag of --target devnet, and --target local is given`,
    )
})

test('of a file of a View either step takes a key, and only the second one reports', () => {
  const key = { viewFile: 'v', wallet: 'w', keyFile: 'k', passwordFile: 'p' }
  assert.equal(refusal({ ...key, prepare: 'a' }, 'devnet'), null)
  assert.equal(refusal({ ...key, send: 'a', report: 'b' }, 'devnet'), null)
  for (const [flags, message] of [
    [{ report: 'b' }, '--report is given without --view-file'],
    [{ prepare: 'a', report: 'b' }, '--report is given without --view-file'],
    [{ ...key, prepare: 'a', report: 'b' }, 'both --prepare and --report are given'],
    [{ ...key, prepare: 'a', send: 'a' }, 'both --prepare and --send are given'],
    [{ ...key, dryRun: true }, 'both --view-file and --dry-run are given'],
  ] as const)
    assert.equal(refusal(flags, 'devnet'), message)
})
