/** What no lens may do, whatever it is given: trap, answer what is no item, or be of no more use afterwards. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { erc20Abi } from 'viem'
import { document, type Item, openLens, openSetLens } from './support/fed-lens.ts'
import { recordedLogs } from './support/fixture-logs.ts'

const [log] = recordedLogs()
assert.ok(log !== undefined)
const transaction = {
  hash: '0x1',
  to: log.address,
  blockNumber: 1,
  input: `0xa9059cbb${'0'.repeat(128)}`,
}

/** Ends a call in front of the end of the stream, behind which one lens takes nothing more. */
const stop = { type: 'error', text: 'stop here' } as const satisfies Item

/** Arguments and a document of each lens, both of which it takes. */
const accepted: Readonly<Record<string, readonly [args: object, document: object]>> = {
  decode_call: [{ abi: JSON.stringify(erc20Abi) }, transaction],
  decode_log: [{ abi: erc20Abi, unmatched: 'keep' }, log],
  erc20_balances: [{ tokenAddress: log.address }, log],
  erc20_transfers: [{ tokenAddress: log.address }, log],
  filter: [{ src: 'address', value: log.address }, log],
  filter_transaction: [{ src: 'topics', value: log.topics }, log],
}

/** A text with some of its characters replaced, doubled or cut out. */
function damaged(text: string): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat({ max: text.length - 1 }),
    cut: fc.constantFrom(0, 1, 1, 1, 7, 400),
    put: fc.constantFrom(
      '',
      '"',
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '\\',
      '0',
      '9',
      'x',
      'null',
      '[]',
      'é',
    ),
  })
  return fc
    .array(change, { minLength: 1, maxLength: 4 })
    .map((changes) =>
      changes.reduce((all, { at, cut, put }) => all.slice(0, at) + put + all.slice(at + cut), text),
    )
}

const anyText = (text: string): fc.Arbitrary<string> =>
  fc.oneof({ arbitrary: damaged(text), weight: 4 }, fc.json(), fc.string({ unit: 'binary' }))

for (const [name, [args, example]] of Object.entries(accepted)) {
  test(`${name} answers hostile arguments with an error or takes them, and never traps`, () => {
    const lens = openLens(name)
    let refused = 0
    fc.assert(
      fc.property(anyText(JSON.stringify(args)), (text) => {
        const answer = lens.set(text.toWellFormed())
        assert.match(answer.type, /^(?:nil|error)$/)
        if (answer.type === 'error') refused += 1
        lens.transform([document(example), stop])
      }),
      { numRuns: 2_000 },
    )
    assert.ok(refused > 300, `${refused} refused`)
    assert.deepEqual(lens.set(JSON.stringify(args)), { type: 'nil' })
  })

  test(`${name} answers hostile documents with an error or a document, and goes on`, () => {
    const lens = openSetLens(name, args)
    let errors = 0
    fc.assert(
      fc.property(anyText(JSON.stringify(example)), (text) => {
        const answer = lens.transform([{ type: 'document', text: text.toWellFormed() }, stop])
        if (answer.type === 'document') assert.equal(typeof JSON.parse(answer.text), 'object')
        else if (answer.type === 'error' && answer.text !== stop.text) errors += 1
      }),
      { numRuns: 2_000 },
    )
    assert.ok(errors > 300, `${errors} errors`)
    const last = lens.transform([document(example), stop])
    assert.notEqual(last.type, 'end')
  })

  test(`${name} takes a document of 12 MiB`, () => {
    const lens = openSetLens(name, args)
    const long = 'ab'.repeat(6 * 1024 * 1024)
    const large = { ...example, data: `0x${long}`, input: `0x${long}` }
    const answer = lens.transform([document(large), stop])
    assert.match(answer.type, /^(?:document|error)$/)
    assert.ok(lens.memoryBytes() <= 64 * 1024 * 1024)
  })
}
