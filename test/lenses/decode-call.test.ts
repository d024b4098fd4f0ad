import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type AbiFunction,
  type AbiParameter,
  decodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
  toFunctionSignature,
} from 'viem'
import { expectedValue } from './support/expected-values.ts'
import {
  document,
  end,
  error,
  fedSingly,
  nil,
  openLens,
  openSetLens,
  streamed,
  values,
} from './support/fed-lens.ts'
import { anyName, anyParameter } from './support/random-abi.ts'

const abi = parseAbi([
  'struct Params { address tokenIn; address tokenOut; uint24 fee; bytes path; }',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function exactInput(Params params) payable returns (uint256)',
  'function multicall(bytes[] data)',
  'function multicall(uint256 deadline, bytes[] data)',
  'function pause()',
  'event Transfer(address to)',
])
const to = `0x${'ab'.repeat(20)}` as Hex
const open = (more: object = {}): ReturnType<typeof openLens> =>
  openSetLens('decode_call', { abi: JSON.stringify(abi), ...more })

interface Call {
  readonly name: string
  readonly signature: string
  readonly args: readonly unknown[]
}

const calls: readonly Call[] = [
  { name: 'transfer', signature: 'transfer(address,uint256)', args: [to, 10n ** 30n] },
  {
    name: 'exactInput',
    signature: 'exactInput((address,address,uint24,bytes))',
    args: [{ tokenIn: to, tokenOut: to, fee: 3000, path: '0xc0ffee' }],
  },
  { name: 'multicall', signature: 'multicall(bytes[])', args: [['0x', '0x01']] },
  { name: 'multicall', signature: 'multicall(uint256,bytes[])', args: [7n, ['0x02']] },
  { name: 'pause', signature: 'pause()', args: [] },
]

function itemOf(signature: string): AbiFunction {
  const found = abi.find(
    (item) => item.type === 'function' && toFunctionSignature(item) === signature,
  )
  return found?.type === 'function' ? found : assert.fail(signature)
}

const inputOf = (item: AbiFunction, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: [item], functionName: item.name, args })

const transactions = calls.map(({ signature, args }) => ({
  hash: '0x1',
  to,
  input: inputOf(itemOf(signature), args),
  blockNumber: 17,
}))

const rows = calls.map(({ name, signature, args }, at) => ({
  ...transactions[at],
  block: '17',
  function: name,
  signature,
  arguments: itemOf(signature).inputs.map((input, place) => ({
    name: input.name,
    type: input.type,
    value: expectedValue(input, args[place]),
  })),
}))

test('decode_call decodes calls, overloaded ones and those with tuples too', () => {
  assert.deepEqual(values(streamed(open(), transactions)), rows)
  assert.deepEqual(values(fedSingly(open(), transactions)), rows)
})

const others = [
  { input: '0x', to },
  { input: '0xa9059c', to },
  { input: '0xdeadbeef', to },
  { input: `${transactions[0]?.input.slice(0, -2)}`, to },
  { input: transactions[0]?.input, to: null },
]

test('decode_call hands on what is no call of the ABI as it is, or drops it', () => {
  assert.deepEqual(values(streamed(open(), others)), others)
  assert.deepEqual(values(streamed(open({ unmatched: 'drop' }), others)), [])
})

test('decode_call writes the block as text, and null where it is not selected', () => {
  const { input } = transactions[4] ?? assert.fail()
  const documents = [{ input }, { input, blockNumber: '0x11', block: 1, function: 2 }]
  const expected = { input, function: 'pause', signature: 'pause()', arguments: [] }
  assert.deepEqual(values(streamed(open(), documents)), [
    { ...expected, block: null },
    { ...expected, block: '0x11', blockNumber: '0x11' },
  ])
})

test('decode_call makes of 2,000 calls of random functions what viem decodes', () => {
  const inputs = fc.array(fc.tuple(anyParameter, anyName), { maxLength: 6 })
  fc.assert(
    fc.property(inputs, (filled) => {
      const parameters: AbiParameter[] = filled.map(([{ parameter }, name]) => ({
        ...parameter,
        name,
      }))
      const item: AbiFunction = {
        type: 'function',
        name: 'call',
        inputs: parameters,
        outputs: [],
        stateMutability: 'view',
      }
      const input = inputOf(
        item,
        filled.map(([{ value }]) => value),
      )
      const decoded =
        filled.length === 0 ? [] : decodeAbiParameters(parameters, `0x${input.slice(10)}`)
      const lens = openSetLens('decode_call', { abi: [item] })
      assert.deepEqual(values(streamed(lens, [{ input }])), [
        {
          input,
          block: null,
          function: 'call',
          signature: toFunctionSignature(item),
          arguments: parameters.map((parameter, at) => ({
            name: parameter.name,
            type: parameter.type,
            value: expectedValue(parameter, decoded[at]),
          })),
        },
      ])
    }),
    { numRuns: 2_000 },
  )
})

test('decode_call answers errors to what it cannot read, and goes on', () => {
  const lens = open()
  assert.deepEqual(lens.transform([document(7)]), error('the document is no JSON object'))
  assert.deepEqual(
    lens.transform([document({})]),
    error("the document has no field 'input': the query of the View has to select it"),
  )
  const noHex = error("the field 'input' is no hexadecimal text")
  assert.deepEqual(lens.transform([document({ input: '0x123' })]), noHex)
  assert.deepEqual(lens.transform([document({ input: 'xy' })]), noHex)
  assert.deepEqual(lens.transform([document({ input: null })]), noHex)
  const source = [nil, error('gone'), end, end, document(others[0])]
  assert.deepEqual(
    source.map((item) => lens.transform([item])),
    source,
  )
})

test('decode_call refuses an ABI without functions', () => {
  const lens = openLens('decode_call')
  assert.deepEqual(
    lens.set('{"abi":[{"type":"event","name":"E"}]}'),
    error("the argument 'abi' has no function"),
  )
  assert.deepEqual(lens.set('{}'), error("missing required argument 'abi'"))
  assert.deepEqual(lens.transform([]), error('set_param must be called before transform'))
})

test('decode_call keeps its memory over 100,000 documents of many sizes', () => {
  const lens = open()
  const feed = (count: number): void => {
    for (let n = 0; n < count; n += 1)
      lens.transform([
        document({ ...transactions[n % transactions.length], more: 'x'.repeat(n % 3_000) }),
      ])
  }
  feed(3_000)
  const before = lens.memoryBytes()
  feed(97_000)
  assert.equal(lens.memoryBytes(), before)
})
