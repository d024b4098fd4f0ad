import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, it, test } from 'node:test'
import { checkNames, type LensCheck } from '../../../src/toolkit/lens/check.ts'
import { determinismOf, examineLens } from '../../../src/toolkit/lens/examine.ts'
import { trapOnNil } from '../../lens/support/hostile-lenses.ts'
import { at, buildLens, globals, item, op } from '../../lens/support/lens.ts'
import { openTestTerminal } from '../support/test-terminal.ts'
import { shipped, usdc } from '../trial/support/trial-room.ts'

const documents = ['{"n":1}', '{"n":2}', '{"n":3}']

interface Given {
  readonly args?: string
  readonly given?: readonly string[]
}

function examine(
  wasm: Uint8Array,
  { args = '', given = documents }: Given = {},
): Promise<LensCheck[]> {
  return examineLens({
    ...{ wasm, args, documents: given, environment: process.env },
    signal: new AbortController().signal,
  })
}

/** All that is found, each on a line; the time by the clock is left out. */
async function foundOf(wasm: Uint8Array, given: Given = {}): Promise<readonly string[]> {
  return (await examine(wasm, given)).map(
    ({ name, outcome, message }) =>
      `${outcome}: ${name}: ${message.replace(/ and \d+ ms/, ' and N ms')}`,
  )
}

/** What is found of a lens that is not passed, by the name of the check. */
async function illsOf(wasm: Uint8Array, given: Given = {}): Promise<Record<string, string>> {
  const checks = await examine(wasm, given)
  const ills = checks.filter(({ outcome }) => outcome !== 'passed')
  return Object.fromEntries(
    ills.map(({ name, outcome, message }: LensCheck) => [name, `${outcome}: ${message}`]),
  )
}

/** A `transform` that runs the code where the end of the stream comes before any document, and else returns each item. */
function withoutDocument(code: readonly number[]): number[] {
  return [
    ...op.callNext,
    ...op.set(0),
    ...op.getGlobal(globals.first),
    ...op.isZero,
    ...op.when([
      ...op.const(1),
      ...op.setGlobal(globals.first),
      ...op.get(0),
      ...op.load8,
      ...op.const(127),
      ...op.equal,
      ...op.when(code),
    ]),
    ...op.get(0),
  ]
}

const shippedArguments: Readonly<Record<string, object>> = {
  filter: { src: 'address', value: usdc },
  filter_transaction: { src: 'address', value: usdc },
  decode_log: { abi: [{ type: 'event', name: 'E', inputs: [] }] },
  erc20_transfers: { tokenAddress: usdc },
  erc20_balances: { tokenAddress: usdc },
}

test('each check of lens doctor is a section of its page', () => {
  const page = readFileSync(new URL('../../../docs/views/lens-doctor.md', import.meta.url), 'utf8')
  const sections = [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title)
  assert.deepEqual(sections, [...checkNames])
})

describe('lens doctor', () => {
  for (const [name, args] of Object.entries(shippedArguments)) {
    it(`finds nothing that makes ${name} unfit`, async (t) => {
      const { run, cwd } = await openTestTerminal(t)
      writeFileSync(join(cwd, 'lens.wasm'), shipped(name))
      const argv = ['lens', 'doctor', 'lens.wasm', '--args', JSON.stringify(args)]
      const { exitCode, stdout, stderr } = await run(argv)
      assert.deepEqual([exitCode, stderr], [0, ''], stdout)
      assert.doesNotMatch(stdout, /^failed/m)
    })
  }

  it('says of each check what it found, of a lens with arguments and of one without', async () => {
    const found = (also: string, missing: string, wrong: string): readonly string[] => [
      'passed: imports: it imports lens.next and nothing else',
      `passed: exports: it exports memory, alloc, transform${also}, and begins with 1 page of memory`,
      'passed: both feeds: it gives the same 3 documents by either feed',
      'passed: nil: nil in place of a document does it no harm',
      'passed: end of stream first: it ends where there is no document',
      `passed: missing arguments: ${missing}`,
      `passed: wrong arguments: ${wrong}`,
      'passed: memory: 10000 documents take 131072 bytes of memory and N ms',
      'passed: determinism: three new instances give the same',
    ]
    const needsNone = found(', set_param', 'it needs none of its arguments', 'it copes with them')
    assert.deepEqual(await foundOf(buildLens()), needsNone)
    const exports = Array.from({ length: 120 }, (_, number) => `also${number}`)
    assert.deepEqual(await foundOf(buildLens({ exports })), needsNone)
    const without = buildLens({ names: ['alloc', 'transform', null], pages: [1, 8] })
    assert.deepEqual(await foundOf(without), found('', 'it takes none', 'it takes none'))
  })

  it('goes on with a lens that reports each document as a failure, and says what to give it', async () => {
    const failed = 'lens 1 failed: no such property'
    assert.deepEqual((await foundOf(buildLens({ transform: op.const(at.error) }))).slice(2), [
      `failed: both feeds: ${failed}; --args and --query say what it is given`,
      'passed: nil: nil in place of a document does it no harm',
      `failed: end of stream first: given no document, ${failed}`,
      `passed: missing arguments: it says so: ${failed}`,
      'passed: wrong arguments: it copes with them',
      `failed: memory: with 1000 documents, ${failed}`,
      'passed: determinism: three new instances give the same',
    ])
  })

  it('asks for arguments where they are refused, and for nothing where the lens does not start', async () => {
    const args = '{"tokenAddress":"usdc"}'
    assert.deepEqual(await illsOf(shipped('erc20_transfers'), { args }), {
      exports:
        "failed: lens 1 refuses its arguments: the argument 'tokenAddress' is no address; give what it asks for: --args JSON",
    })
    assert.deepEqual(await illsOf(buildLens({ start: op.unreachable })), {
      exports: 'failed: lens 1 trapped in its start section: unreachable',
    })
  })

  it('finds imports and exports that are not those of the ABI, and leaves the rest out', async () => {
    assert.deepEqual(await illsOf(Buffer.from('x')), {
      imports: 'failed: the module of a lens is refused: it ends within something, at byte 1',
    })
    assert.deepEqual(await illsOf(buildLens({ names: [null, 'transform', null] })), {
      exports: 'failed: lens 1 exports no function alloc',
    })
  })

  it('finds a lens that depends on its feed, and fails one that gives nothing by that of a Host', async () => {
    const everySecond = buildLens({ transform: [...op.callNext, ...op.drop, ...op.callNext] })
    const remedy = 'write "feed: stream" into the description of the type where that is right'
    assert.deepEqual(await illsOf(everySecond), {
      'both feeds': `failed: a Host feeds it "single", which gives 0 documents; "stream" gives 1 others: ${remedy}`,
    })
    const everyOther = buildLens({
      transform: [...op.callNext, ...op.set(0), ...op.callNext, ...op.drop, ...op.get(0)],
    })
    assert.deepEqual(await illsOf(everyOther), {
      'both feeds': `warning: a Host feeds it "single", which gives 3 documents; "stream" gives 2 others: ${remedy}`,
    })
  })

  it('finds a lens that traps on nil and with wrong arguments', async () => {
    const nilTraps = buildLens({ transform: trapOnNil, setParam: op.unreachable })
    assert.deepEqual(await illsOf(nilTraps), {
      nil: 'warning: given nil, lens 1 trapped in transform: unreachable',
      'wrong arguments':
        'warning: with {"none of its arguments":7}, lens 1 trapped in set_param: unreachable',
    })
  })

  it('shows sixty characters of the arguments with which a lens traps', async () => {
    const args = `{"${'a'.repeat(60)}":"b"}`
    const setParam = [
      ...[...op.get(0), ...op.const(1), ...op.add, ...op.load32, ...op.const(args.length)],
      ...[...op.equal, ...op.isZero, ...op.when(op.unreachable), ...op.const(at.nil)],
    ]
    assert.deepEqual(await illsOf(buildLens({ setParam }), { args }), {
      'wrong arguments': `warning: with {"${'a'.repeat(58)}, lens 1 trapped in set_param: unreachable`,
    })
  })

  it('finds a lens that traps where there is no document', async () => {
    const wasm = buildLens({ transform: withoutDocument(op.unreachable) })
    assert.deepEqual(await illsOf(wasm), {
      'end of stream first': 'failed: given no document, lens 1 trapped in transform: unreachable',
    })
  })

  it('finds a lens that makes a document where there is none', async () => {
    const wasm = buildLens({
      text: item(1, '{"n":0}'),
      transform: withoutDocument([...op.const(at.text), ...op.return]),
    })
    const { 'end of stream first': found } = await illsOf(wasm)
    assert.equal(found, 'warning: it makes a document out of none, in every block')
  })

  it('finds a lens that traps where its arguments are missing, and accepts any', async () => {
    const wasm = buildLens({
      setParam: [...op.const(1), ...op.setGlobal(globals.first), ...op.const(at.nil)],
      transform: [
        ...op.getGlobal(globals.first),
        ...op.isZero,
        ...op.when(op.unreachable),
        ...op.callNext,
      ],
    })
    assert.deepEqual(await illsOf(wasm, { args: '{"a":"b"}' }), {
      'missing arguments': 'warning: without arguments, lens 1 trapped in transform: unreachable',
      'wrong arguments': 'warning: it accepts 7 and [] and {"deep":[{}]} for a',
    })
  })

  // No module of the tests does that: nothing that it may import or use differs from one instance to the next.
  it('finds a lens of which one instance gives other documents, or fails', () => {
    const found = (...results: string[]) => determinismOf(results).outcome
    assert.deepEqual(
      [found('a', 'a', 'a'), found('a', 'a', 'b'), found('a', 'lens 1 failed', 'a')],
      ['passed', 'failed', 'failed'],
    )
  })

  it('finds a lens that keeps memory for each document', async () => {
    const { memory = '' } = await illsOf(buildLens(), {
      given: [JSON.stringify('x'.repeat(1_000))],
    })
    assert.equal(
      memory.replace(/ and \d+ ms/, ' and N ms'),
      'warning: 10000 documents take 10092544 bytes of memory and N ms; it keeps 1005 bytes of each, so that a block of 66774 documents fails',
    )
  })

  it('gives up a lens that never ends', async () => {
    const ills = await illsOf(buildLens({ alloc: [...op.forever(), ...op.unreachable] }))
    assert.deepEqual(Object.keys(ills), ['both feeds'])
    assert.match(ills['both feeds'] ?? '', /^failed: the lenses took more than/)
  })

  it('ends with 1 behind the report of a lens that is not fit, with the page of what failed', async (t) => {
    const { run, cwd } = await openTestTerminal(t)
    writeFileSync(join(cwd, 'lens.wasm'), buildLens({ names: [null, 'transform', null] }))
    const { exitCode, stdout, stderr } = await run(['lens', 'doctor', 'lens.wasm'])
    assert.equal(exitCode, 1)
    assert.deepEqual(stdout.split('\n'), [
      'passed   imports: it imports lens.next and nothing else',
      'failed   exports: lens 1 exports no function alloc',
      '         docs/views/lens-doctor.md#exports in a clone of Viewmesh',
      '',
    ])
    assert.equal(
      stderr,
      'error: lens.wasm fails 1 of its checks\nWhat to do: The section named below each check says what to do; the docs are in a clone of Viewmesh, and not in its package.\n',
    )
  })

  it('refuses a file that is missing, and arguments that are no object', async (t) => {
    const { run } = await openTestTerminal(t)
    assert.equal((await run(['lens', 'doctor', 'no.wasm'])).exitCode, 1)
    const { exitCode, stderr } = await run(['lens', 'doctor', 'no.wasm', '--args', '[1]'])
    assert.deepEqual([exitCode, stderr.split('\n')[0]], [2, 'error: invalid --args JSON'])
  })
})
