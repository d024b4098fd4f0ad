/** `kubectl viewmesh` as it is called: flags, help, exit codes. */
import assert from 'node:assert/strict'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import type { ClusterFlags } from '../../../operator/plugin/cluster/cluster-access.ts'
import { runCommandLine } from '../../../operator/plugin/command-line.ts'
import { createOutput } from '../../../operator/plugin/text/output.ts'
import { readVersion } from '../../../src/service/version.ts'
import { kubernetesRoom } from '../support/kubernetes-room.ts'
import { send, status } from '../support/kubernetes-server.ts'
import { runPlugin } from '../support/plugin-run.ts'

const room = kubernetesRoom()

interface Called {
  readonly code: number
  /** What was asked to be opened. */
  readonly opened: readonly ClusterFlags[]
  readonly closed: number
}

/** Runs a command, and returns what it does with the cluster that its flags name. */
async function call(...args: readonly string[]): Promise<Called> {
  const opened: ClusterFlags[] = []
  let closed = 0
  const nowhere = (): Writable => new Writable({ write: (_piece, _encoding, done) => done() })
  const code = await runCommandLine(args, {
    open: async (flags) => {
      opened.push(flags)
      return {
        api: room.client.api,
        exec: () => Promise.reject(new Error('nothing is run in this test')),
        namespace: 'apps',
        serverVersion: async () => 'v1.34.0',
        close: async () => {
          closed += 1
        },
      }
    },
    output: createOutput({ stdout: nowhere(), stderr: nowhere() }),
    stdin: Readable.from([]),
    signal: new AbortController().signal,
  })
  return { code, opened, closed }
}

for (const [what, args, expected] of [
  [
    'a command that does not exist',
    ['stauts'],
    /unknown command 'stauts'\n\(Did you mean status\?\)/,
  ],
  ['help as a command, which is a flag,', ['help'], /unknown command 'help'/],
  ['a flag that does not exist', ['status', '--all'], /unknown option '--all'/],
  ['a format that there is none of', ['status', '-o', 'yaml'], /It is json\./],
  ['no resource where one is needed', ['logs'], /missing required argument 'kind\/name'/],
  ['no file for a backup', ['backup', 'host/a'], /required option '-f, --filename <file>'/],
  ['no line', ['logs', 'host/a', '--tail', '0'], /from 1 to 1000000/],
  ['too many lines', ['logs', 'host/a', '--tail', '1000001'], /from 1 to 1000000/],
  ['a number of lines with a unit', ['logs', 'host/a', '--tail', '5k'], /from 1 to 1000000/],
  ['a number of lines in hex', ['logs', 'host/a', '--tail', '0x10'], /from 1 to 1000000/],
  ['no claim where one is needed', ['claims', 'delete'], /missing required argument 'claim'/],
] as const) {
  test(`${what} is refused with exit code 2`, async () => {
    const { code, stdout, stderr } = await runPlugin(room.client, args)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, expected)
  })
}

test('help names each command, and each command its flags', async () => {
  const { code, stdout } = await runPlugin(room.client, ['--help'])
  assert.equal(code, 0)
  for (const name of ['status', 'logs', 'backup', 'restore', 'claims', 'report']) {
    assert.match(stdout, new RegExp(`^  ${name} `, 'm'))
    const help = await runPlugin(room.client, [name, '--help'])
    assert.match(help.stdout, /-n, --namespace <name>/)
  }
})

test('a command is about the cluster and the namespace that its flags name', async () => {
  const flags = ['-n', 'shop', '--context', 'staging', '--kubeconfig', '/tmp/config']
  const wanted = [{ namespace: 'shop', context: 'staging', kubeconfig: '/tmp/config' }]
  assert.deepEqual((await call('status', ...flags)).opened, wanted)
  assert.deepEqual((await call('claims', ...flags)).opened, wanted)
})

test('connections are closed after a command that succeeded, and after one that failed', async () => {
  const { code, closed } = await call('claims')
  assert.deepEqual({ code, closed }, { code: 0, closed: 1 })
  const failed = await call('status', 'host/none')
  assert.deepEqual({ code: failed.code, closed: failed.closed }, { code: 2, closed: 1 })
})

test('what Ctrl-C interrupts ends with exit code 2, and says nothing of it', async () => {
  const stop = new AbortController()
  room.server.faults.add((_, response) => {
    stop.abort()
    send(response, 403, status(403, 'Forbidden', 'no'))
    return true
  })
  const run = await runPlugin(room.client, ['status', 'host/a'], { signal: stop.signal })
  assert.deepEqual(run, { code: 2, stdout: '', stderr: '' })
})

for (const lines of ['1', '1000000'])
  test(`logs of ${lines} lines may be asked for`, async () => {
    assert.equal((await call('logs', 'host/a', '--tail', lines)).opened.length, 1)
  })

test('the version is that of the programs', async () => {
  const run = await runPlugin(room.client, ['--version'])
  assert.deepEqual(run, { code: 0, stdout: `${readVersion()}\n`, stderr: '' })
})

test('without a command the help is a note, and the exit code 2', async () => {
  const { code, stdout, stderr } = await runPlugin(room.client, [])
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /^Usage: kubectl viewmesh COMMAND\n/)
  assert.match(stderr, /\nEnds with 0 where all is well, 1 where .*, 2 where it failed\.\n$/)
})
