import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, it, test } from 'node:test'
import { checkNames, type LensCheck } from '../../../src/toolkit/lens/check.ts'
import { determinismOf, examineLens } from '../../../src/toolkit/lens/examine.ts'
import { at, buildLens, globals, item, op } from '../../lens/support/lens.ts'
import { openTestTerminal } from '../support/test-terminal.ts'
import { shipped, usdc } from '../trial/support/trial-room.ts'

const documents = ['{"n":1}', '{"n":2}', '{"n":3}']

/** What is found of a lens that is not passed, by the name of the check. */
async function illsOf(
  wasm: Uint8Array,
  { args = '', given = documents }: { args?: string; given?: readonly string[] } = {},
): Promise<Record<string, string>> {
  const checks = await examineLens({
    wasm,
    args,
    documents: given,
    environment: process.env,
    signal: new AbortController().signal,
  })
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

  it('finds imports and exports that are not those of the ABI, and leaves the rest out', async () => {
    assert.deepEqual(await illsOf(Buffer.from('x')), {
      imports: 'failed: the module of a lens is refused: it ends within something, at byte 1',
    })
    assert.deepEqual(await illsOf(buildLens({ names: [null, 'transform', null] })), {
      exports: 'failed: lens 1 exports no function alloc',
    })
  })

  it('finds a lens that depends on its feed', async () => {
    // Counts documents, and returns each second one.
    const everySecond = buildLens({
      transform: [...op.callNext, ...op.drop, ...op.callNext],
    })
    const { 'both feeds': feeds = '' } = await illsOf(everySecond)
    assert.match(feeds, /^(?:warning|failed): .*"(?:stream|single)"/)
  })

  it('finds a lens that traps on nil and with wrong arguments', async () => {
    const nilTraps = buildLens({
      transform: [
        ...op.callNext,
        ...op.set(0),
        ...op.get(0),
        ...op.load8,
        ...op.isZero,
        ...op.when(op.unreachable),
        ...op.get(0),
      ],
      setParam: op.unreachable,
    })
    assert.deepEqual(await illsOf(nilTraps), {
      nil: 'warning: given nil, lens 1 trapped in transform: unreachable',
      'wrong arguments':
        'warning: with {"none of its arguments":7}, lens 1 trapped in set_param: unreachable',
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
    assert.match(memory, /^warning: 10000 documents take \d+ bytes .* it keeps \d+ bytes of each/)
  })

  it('gives up a lens that never ends', async () => {
    const ills = await illsOf(buildLens({ alloc: [...op.forever(), ...op.unreachable] }))
    assert.deepEqual(Object.keys(ills), ['both feeds'])
    assert.match(ills['both feeds'] ?? '', /^failed: the lenses took more than/)
  })

  it('refuses a file that is missing, and arguments that are no object', async (t) => {
    const { run } = await openTestTerminal(t)
    assert.equal((await run(['lens', 'doctor', 'no.wasm'])).exitCode, 1)
    const { exitCode, stderr } = await run(['lens', 'doctor', 'no.wasm', '--args', '[1]'])
    assert.deepEqual([exitCode, stderr.split('\n')[0]], [2, 'error: invalid --args JSON'])
  })
})
