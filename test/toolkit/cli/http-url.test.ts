/** URLs that flags name: what is none is wrong usage before anything else is done, in every command. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseHostUrl, parseHttpUrl } from '../../../src/toolkit/cli/http-url.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const rpc = ['--target', 'devnet', '--rpc']
/** Commands to which the URL is added; of a Host or of another place. */
const commands: readonly (readonly [argv: readonly string[], place: string])[] = [
  [['view', 'deploy', 'Things', '--target', 'local', '--host'], 'Host'],
  [['view', 'dev', 'Things', '--host'], 'Host'],
  [['view', 'dev', 'Things', '--from'], 'Host'],
  [['view', 'test', 'Things', '--from'], 'Host'],
  [['view', 'status', 'Things', '--host'], 'Host'],
  [['types', '--host'], 'Host'],
  [['doctor', '--host'], 'Host'],
  [['view', 'deploy', 'Things', ...rpc], 'JSON-RPC'],
  [['view', 'deploy', 'Things', ...rpc, 'http://127.0.0.1:1', '--comet'], 'consensus RPC'],
  [['view', 'status', 'Things', '--rpc'], 'JSON-RPC'],
  [['register', '--rpc'], 'JSON-RPC'],
  [['register', '--rpc', 'http://127.0.0.1:1', '--node'], 'node'],
]

test('of what is no URL two hundred characters are shown', () => {
  assert.throws(() => parseHttpUrl('--rpc', 'x'.repeat(201), 'JSON-RPC'), {
    code: 'TOOLKIT_USAGE_INVALID',
    message: `"${'x'.repeat(200)}" is not a URL of a JSON-RPC`,
  })
})

test('the URL of a Host may be that of its GraphQL, behind the path of a proxy as well', () => {
  for (const [text, wanted] of [
    ['http://127.0.0.1:9181', 'http://127.0.0.1:9181/'],
    ['http://127.0.0.1:9181/api/v0/graphql', 'http://127.0.0.1:9181/'],
    ['https://hosts.example/mainnet/api/v0/graphql/', 'https://hosts.example/mainnet'],
    ['https://hosts.example/api/v0/graphql/other', 'https://hosts.example/api/v0/graphql/other'],
  ] as const)
    assert.equal(parseHostUrl('--host', text), wanted)
})

test('the URL of a Host has neither a user nor a password', () => {
  for (const login of ['me', ':secret', 'me:secret'])
    assert.throws(() => parseHostUrl('--host', `http://${login}@127.0.0.1:9181`), {
      code: 'TOOLKIT_USAGE_INVALID',
      message: 'the URL of --host has a user or a password',
    })
})

for (const [argv, place] of commands) {
  const flag = argv.at(-1)
  test(`${argv.slice(0, 2).join(' ')} with ${flag} and no URL of a ${place} is wrong usage`, async (t) => {
    const { run, json } = await openTestTerminal(t)
    await json('view', 'init', 'Things')
    for (const text of ['nonsense', '127.0.0.1:9181', 'ftp://127.0.0.1', '']) {
      const { exitCode, stdout, stderr } = await run([...argv, text])
      assert.deepEqual([exitCode, stdout], [2, ''])
      const [message, remedy, usage] = stderr.split('\n')
      if (flag !== '--rpc' || text !== '')
        assert.equal(message, `error: ${JSON.stringify(text)} is not a URL of a ${place}`)
      assert.match(`${remedy}`, /^What to do: Give (?:http:\/\/ or https:\/\/ with |the JSON-RPC)/)
      assert.match(`${usage}`, /^Usage: viewmesh /)
    }
    if (place !== 'Host') return
    const { exitCode, stderr } = await run([...argv, 'http://me:secret@127.0.0.1:1'])
    assert.equal(exitCode, 2)
    assert.match(stderr, new RegExp(`^error: the URL of ${flag} has a user or a password\n`))
  })
}
