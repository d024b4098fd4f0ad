import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  maxAnswerFileBytes,
  maxVerifiedValues,
  type VerifyFlags,
  verifyCommand,
} from '../../src/toolkit/verify-command.ts'
import { alice, bob, carol, documentOf } from '../support/chain/answered-documents.ts'

const folder = mkdtempSync(join(tmpdir(), 'viewmesh-verify-'))
after(() => rmSync(folder, { recursive: true }))

const byAlice = { identity: [alice.identity], minimum: 1 }
const nothing = Readable.from([])

/** Writes a file and runs the command on it. */
async function verifyText(text: string, flags: VerifyFlags = byAlice) {
  const file = join(folder, 'answer.json')
  writeFileSync(file, text)
  const result = await verifyCommand(file, flags, nothing)
  return { ...result, stderr: result.stderr.replaceAll(file, 'FILE') }
}

const log = documentOf('log-')
const { value, ...half } = documentOf('tx-')
const { number, hash } = log._proof.block
const sealed = `in block ${number} (${hash}) of Ethereum__Mainnet, signed by ${alice.identity}`

describe('viewmesh verify prints a line a document with', () => {
  test('what is proven of it, by whom, and what not; all proven is exit code 0', async () => {
    const answer = { data: { Log: [{ ...log, amount: '0x1' }, documentOf('log-')] } }
    assert.deepEqual(await verifyText(JSON.stringify(answer)), {
      exitCode: 0,
      stdout: [
        `data.Log[0]: proven: ${log._docID}, ${sealed}; not proven: amount\n`,
        `data.Log[1]: proven: ${log._docID}, ${sealed}\n`,
      ].join(''),
      stderr: '',
    })
  })

  test('what the query lacks for it, and why nothing is proven; either is exit code 1', async () => {
    assert.deepEqual(await verifyText(JSON.stringify([half, { ...log, logIndex: 9 }])), {
      exitCode: 1,
      stdout: [
        `[0]: only the CID is proven: ${half._proof.cid}, ${sealed}; for the document ask for value too; not proven: hash, blockHash, from, to, gas, gasPrice, gasUsed, maxFeePerGas, maxPriorityFeePerGas, input, nonce, type, chainId, v, r, s, cumulativeGasUsed, effectiveGasPrice, blockNumber, transactionIndex, 1 more\n`,
        '[1]: not proven (cid-wrong): The fields do not hash to the signed CID: a value, the `_docID` or the network differs.\n',
      ].join(''),
      stderr: '',
    })
  })

  test('what is proven of one though another is not; that is exit code 1', async () => {
    const { exitCode, stdout } = await verifyText(JSON.stringify([log, { ...log, logIndex: 9 }]))
    assert.equal(exitCode, 1)
    assert.match(stdout, /^\[0\]: proven: .*\n\[1\]: not proven /)
  })

  test('by JSON what programs read', async () => {
    const flags = { identity: [bob.identity, alice.identity], minimum: 2, json: true }
    const { exitCode, stdout } = await verifyText(JSON.stringify({ data: { Log: [log] } }), flags)
    assert.equal(exitCode, 0)
    const { fields, ...verdict } = JSON.parse(stdout)
    assert.equal(fields.length, 9)
    assert.deepEqual(verdict, {
      path: ['data', 'Log', 0],
      proves: 'document',
      network: 'Ethereum__Mainnet',
      block: { number, hash },
      signers: [alice.identity, bob.identity],
      docID: log._docID,
      collection: 'Log',
      cid: log._proof.cid,
      unproven: [],
    })
  })

  test('no control characters for a terminal', async () => {
    const names = ['\u001b[2J', '\u009b2J', 'a\nb', 'é']
    const evil = Object.fromEntries(names.map((name) => [name, { ...log, [name]: 1 }]))
    const { stdout } = await verifyText(JSON.stringify(evil))
    const { stdout: json } = await verifyText(JSON.stringify(evil), { ...byAlice, json: true })
    for (const text of [stdout, json]) {
      assert.equal(text.split('\n').length, names.length + 1)
      assert.match(text, /^[\x20-\x7e\n]*$/)
    }
    assert.match(stdout, /^"\\u001b\[2J": proven: .*; not proven: "\\u001b\[2J"$/m)
  })
})

describe('viewmesh verify exits with 2 and a remedy for', () => {
  const refusals: Readonly<Record<string, readonly [string, VerifyFlags, string]>> = {
    'no identity': [
      '{}',
      { identity: [], minimum: 1 },
      'error: No --identity is given.\nWhat to do: Give the identity of each Generator whose word you take: .identity in its /health, from its operator rather than from the Host.\n',
    ],
    'what is no identity': [
      '{}',
      { identity: ['0xab'], minimum: 1 },
      'error: "0xab" is no identity.\nWhat to do: Accept the identities that Generators show at /health (.identity): 66 lower-case hex digits, or 64; and at least as many as have to sign.\n',
    ],
    'an identity twice': [
      '{}',
      { identity: [alice.identity, alice.identity], minimum: 1 },
      `error: The identity ${alice.identity} is given twice.\nWhat to do: Leave one of the two out, or replace it by that of another Generator.\n`,
    ],
    'what is not JSON': [
      'data: {}',
      byAlice,
      'error: FILE is not JSON in UTF-8.\nWhat to do: Save the whole body that the Host answered, and nothing else.\n',
    ],
    'an answer without proofs': [
      '{"errors": [], "data": {"Log": [{"data": "0x"}]}}',
      byAlice,
      'error: FILE has no document with _proof in it.\nWhat to do: Ask for _docID, all fields of the collection and _proof { network cid index count path root block { number hash } seals { type identity value } }, under their own names.\n',
    ],
  }
  for (const [name, [text, flags, stderr]] of Object.entries(refusals)) {
    test(name, async () => {
      assert.deepEqual(await verifyText(text, flags), { exitCode: 2, stdout: '', stderr })
    })
  }

  test('a missing file', async () => {
    const file = join(folder, 'missing.json')
    assert.deepEqual(await verifyCommand(file, byAlice, nothing), {
      exitCode: 2,
      stdout: '',
      stderr: `error: ${file} cannot be read.\n  because: ENOENT: no such file or directory, open '${file}'\nWhat to do: Name a file with what the Host answered, or - for standard input.\n`,
    })
  })

  test('what is not JSON on standard input', async () => {
    const stdin = Readable.from([Buffer.from('data')])
    const { exitCode, stderr } = await verifyCommand('-', byAlice, stdin)
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error: Standard input is not JSON in UTF-8\.\n/)
  })

  test('an answer of more than 128 MiB, and not one of 128 MiB', async () => {
    const file = join(folder, 'large.json')
    for (const [bytes, message] of [
      [maxAnswerFileBytes, /has no document with _proof/],
      [maxAnswerFileBytes + 1, /is larger than 134217728 bytes/],
    ] as const) {
      writeFileSync(file, `"${'x'.repeat(bytes - 2)}"`)
      const { exitCode, stderr } = await verifyCommand(file, byAlice, nothing)
      assert.equal(exitCode, 2)
      assert.match(stderr, message)
    }
  })
})

test('viewmesh verify reads three million values of an answer, and no more', async () => {
  const refusals = {
    [maxVerifiedValues]: /has no document/,
    [maxVerifiedValues + 1]: /values, or is/,
  }
  for (const [values, message] of Object.entries(refusals)) {
    const { exitCode, stderr } = await verifyText(`[${'0,'.repeat(Number(values) - 1)}0]`)
    assert.equal(exitCode, 2)
    assert.match(stderr, message)
  }
})

describe('viewmesh verify', () => {
  const top = fileURLToPath(new URL('../..', import.meta.url))
  const run = (args: readonly string[], input = '') => {
    const all = ['--disable-warning=ExperimentalWarning', 'src/main.ts', 'verify', ...args]
    const { status, stdout, stderr } = spawnSync(process.execPath, all, {
      cwd: top,
      input,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }
  const given = (...identities: readonly string[]): string[] =>
    identities.flatMap((identity) => ['--identity', identity])

  test('reads standard input', () => {
    const { status, stdout } = run(['-', ...given(alice.identity)], JSON.stringify(log))
    assert.deepEqual([status, stdout], [0, `the answer: proven: ${log._docID}, ${sealed}\n`])
  })

  test('takes several identities, and how many of them must have signed', () => {
    const text = JSON.stringify(log)
    const all = given(alice.identity, bob.identity, carol.identity)
    assert.equal(run(['-', ...all, '--minimum', '2'], text).status, 0)
    const { status, stdout } = run([...all, '--minimum', '3', '-'], text)
    assert.equal(status, 1)
    assert.match(stdout, /signers-missing.*3 have to sign, and 2 did/)
  })

  const usages: Readonly<Record<string, readonly [readonly string[], RegExp]>> = {
    'no file': [given(alice.identity), /missing required argument 'file'/],
    'an unknown flag': [['-', '--identities', 'x'], /unknown option '--identities'/],
    'a minimum that is no number': [
      ['-', ...given(alice.identity), '--minimum', 'two'],
      /argument 'two' is invalid\. It is a number from 1 to 9999\./,
    ],
    'no identity': [['-'], /No --identity is given/],
  }
  for (const [name, [args, message]] of Object.entries(usages)) {
    test(`refuses ${name} with exit code 2`, () => {
      const { status, stdout, stderr } = run(args)
      assert.deepEqual([status, stdout], [2, ''])
      assert.match(stderr, message)
    })
  }

  test('lists flags and exit codes with --help', () => {
    const { status, stdout } = run(['--help'])
    assert.equal(status, 0)
    assert.match(stdout, /--identity <hex>.*--minimum <number>.*--json.*Ends with 0/s)
  })
})
