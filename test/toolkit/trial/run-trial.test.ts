import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import process from 'node:process'
import { describe, it } from 'node:test'
import { at, buildLens, item, itemOf, op } from '../../lens/support/lens.ts'
import { testDirectory } from '../../support/test-store.ts'
import { blocksOf, found, shipped, trial, usdc } from './support/trial-room.ts'

const log = 'address topics data blockNumber logIndex transaction { hash }'
const transferAbi = {
  type: 'event',
  name: 'Transfer',
  inputs: ['source', 'target', 'amount'].map((name, place) => ({
    name,
    type: place < 2 ? 'address' : 'uint256',
    indexed: place < 2,
  })),
}
const transfers = {
  query: `Log { ${log} }`,
  sdl: 'type Transfers { hash: String from: String to: String amount: BigInt blockNumber: Int tokenAddress: String }',
  lenses: [{ wasm: shipped('erc20_transfers'), args: { tokenAddress: usdc } }],
}

describe('the test of a View', () => {
  it('shows the rows that a Host would have of the samples', async () => {
    const report = await trial(transfers)
    assert.deepEqual(found(report), [])
    assert.equal(report.passed, true)
    assert.deepEqual(
      report.rows.map(({ _blockNumber, _source, amount }) => [_blockNumber, _source, amount]),
      [
        [21_000_000, 0, '2500000000'],
        [21_000_000, 3, '3350120000'],
        [21_000_001, 4, '14211080000'],
        [21_000_002, 4, '780000000'],
        [21_000_002, 8, '15000000'],
      ],
    )
    assert.deepEqual(report.measured?.documents, 1_000)
    assert.ok((report.measured?.memoryBytes ?? 0) > 0)
  })

  it('decodes the events of every kind of contract among the samples', async () => {
    const abi = [
      ['Swap', ['address', 'uint256', 'uint256', 'uint256', 'uint256', 'address'], [0, 5]],
      ['TransferBatch', ['address', 'address', 'address', 'uint256[]', 'uint256[]'], [0, 1, 2]],
      ['Transfer', ['address', 'address', 'uint256'], [0, 1, 2]],
    ].map(([name, types, indexed]) => ({
      type: 'event',
      name,
      inputs: (types as string[]).map((type, place) => ({
        name: `a${place}`,
        type,
        indexed: (indexed as number[]).includes(place),
      })),
    }))
    const report = await trial({
      query: 'Log { address topics data }',
      sdl: 'type Events { event: String arguments: JSON address: String topics: [String] data: String logAddress: String signature: String }',
      lenses: [{ wasm: shipped('decode_log'), args: { abi, unmatched: 'drop' } }],
    })
    assert.deepEqual(found(report), [])
    assert.deepEqual(
      report.rows.map(({ event }) => event),
      ['Swap', 'Transfer', 'TransferBatch', 'Swap'],
    )
  })

  it('service page: "ABI arguments are passed as a stringified JSON array in a string value"', async () => {
    const events = async (abi: unknown) => {
      const lenses = [{ wasm: shipped('decode_log'), args: { abi, unmatched: 'drop' } }]
      const sdl = 'type Events { event: String hash: String }'
      const report = await trial({ query: `Log { ${log} }`, sdl, lenses })
      return report.rows.map(({ event, hash }) => [event, typeof hash])
    }
    const found = await events(JSON.stringify([transferAbi]))
    assert.deepEqual(found[0], ['Transfer', 'string'])
    assert.deepEqual(found, await events([transferAbi]))
  })

  it('counts fields that are missing, unknown, of another type and always null', async () => {
    const report = await trial({
      query: 'Log { address logIndex topics block { number nonce } }',
      sdl: 'type Logs { Address: String logIndex: String topics: [String] block: JSON nonce: String }',
    })
    assert.deepEqual(found(report), [
      'error (row) SDL_FIELD_NOT_EMITTED: Address is in the SDL, and no row has it',
      'error (row) OUTPUT_TYPE_MISMATCH: logIndex is String in the SDL, and 22 of 22 rows have something else, as in 0',
      'error (row) SDL_FIELD_NOT_EMITTED: nonce is in the SDL, and no row has it',
      'warning (row) OUTPUT_FIELD_NOT_IN_SDL: rows have what is not in the SDL and is left out: address',
    ])
    assert.equal(
      report.findings[0]?.remedy,
      'The lens writes address: names have to be the same in every letter.',
    )
    const always = await trial({
      query: 'Transaction { hash v }',
      sdl: 'type T { hash: String v: String }',
    })
    assert.deepEqual(found(always), ['warning (row) FIELD_ALWAYS_NULL: v is null in all 14 rows'])
    assert.equal(always.passed, true)
  })

  it('fails where nothing was tested', async () => {
    const report = await trial({
      query: 'Log(filter: {address: {_eq: "0x01"}}) { address logIndex }',
    })
    assert.deepEqual(found(report), [
      'error (row) CHAIN_NO_TEST_DATA: neither the query nor the lenses want a document of these blocks, so that nothing was tested',
    ])
  })

  it('compares the rows with those that are expected', async () => {
    const rows = (await trial(transfers)).rows
    assert.equal((await trial({ ...transfers, expected: rows })).passed, true)
    const [first = {}] = rows
    const report = await trial({ ...transfers, expected: [{ ...first, amount: '1' }] })
    assert.deepEqual(found(report), [
      'error (row) ROWS_NOT_AS_EXPECTED: 1 row expected, 5 found',
      'error (row) ROWS_NOT_AS_EXPECTED: row 0: amount is "2500000000", and "1" is expected',
    ])
  })

  it('warns of lenses that add up, since what they add up is of one block', async () => {
    const report = await trial({
      query: `Log { ${log} }`,
      sdl: 'type Balances { account: String balance: BigInt txCount: Int tokenAddress: String }',
      lenses: [{ wasm: shipped('erc20_balances'), args: { tokenAddress: usdc } }],
    })
    assert.deepEqual(
      report.findings.map(({ code }) => code),
      ['AGGREGATES_PER_BLOCK'],
    )
    assert.deepEqual([report.passed, report.measured?.documents], [true, 1_000])
  })

  it('finds lenses that add up in the three blocks with most documents, whichever these are', async () => {
    // Returns a document and passes over the next.
    const wasm = buildLens({
      transform: [...op.callNext, ...op.set(0), ...op.callNext, ...op.drop, ...op.get(0)],
    })
    const sdl = '"feed: stream" type Logs { address: String logIndex: Int }'
    const logs = [{ address: usdc }]
    const blocks = blocksOf(logs, logs, logs, [...logs, ...logs], [])
    const report = await trial({ sdl, lenses: [{ wasm }], blocks })
    assert.deepEqual(
      report.findings.map(({ code }) => code),
      ['AGGREGATES_PER_BLOCK'],
    )
    assert.deepEqual([report.documents, report.measured?.documents], [5, 1_000])
  })

  it('shows no row behind the first that is left out, and counts all of them', async () => {
    const logOf = (bytes: number) => ({ address: usdc, data: `0x${'ab'.repeat(bytes)}` })
    // The last one fails, which spares measuring the others.
    const blocks = blocksOf(Array(33).fill(logOf(128_000)), [logOf(1)], [logOf(132_000)])
    const sdl = 'type Logs { data: String }'
    const report = await trial({ query: 'Log { data }', sdl, blocks })
    assert.deepEqual([report.rows.length, report.rowCount, report.passed], [32, 34, false])
  })
})

/** Service page: "`view test <view-name>` | checks schema errors, invalid lens configuration and compile failures". */
describe('the test of a View names', () => {
  it('schema errors', async () => {
    assert.deepEqual(found(await trial({ sdl: 'type Logs { address: Strin }' })), [
      'error (schema error) SDL_PARSE_FAILED: the SDL, line 1, column 22: the field address has the type Strin',
    ])
    const [query] = found(await trial({ query: 'Log { adress }' }))
    assert.match(query ?? '', /^error \(schema error\) VIEWS_QUERY_INVALID: .*adress/)
    assert.deepEqual(found(await trial({ query: 'Arbitrum__One__Log { address }' })), [
      'error (schema error) CHAIN_INCOMPATIBLE: the query reads Arbitrum__One__Log, and these blocks are of Ethereum__Mainnet',
    ])
  })

  it('invalid lens configuration', async () => {
    const lenses = (args: object | string) => ({
      ...transfers,
      lenses: [{ wasm: shipped('erc20_transfers'), args }],
    })
    assert.deepEqual(found(await trial(lenses('[1]'))), [
      'error (invalid lens configuration) VIEWS_ARGUMENTS_INVALID: the arguments of lens 1 are not a JSON object',
    ])
    assert.deepEqual(found(await trial(lenses({ tokenAddress: 'usdc' }))), [
      "error (invalid lens configuration) LENS_ARGUMENTS_REFUSED: lens 1 refuses its arguments: the argument 'tokenAddress' is no address",
    ])
  })

  it('compile failures', async () => {
    const broken = async (wasm: Uint8Array) => found(await trial({ lenses: [{ wasm }] }))
    const [none] = await broken(Buffer.from('no module'))
    assert.match(none ?? '', /^error \(compile failure\) WASM_INSTANTIATION_FAILED: /)
    const invalid = buildLens({ transform: op.drop })
    assert.match(
      (await broken(invalid))[0] ?? '',
      /^error \(compile failure\) WASM_INSTANTIATION_FAILED: .*not valid WebAssembly/,
    )
    const [large] = await broken(buildLens({ pages: [2_000, 2_000] }))
    assert.equal(
      large,
      'error (compile failure) WASM_INSUFFICIENT_MEMORY: the module of a lens is refused: it begins with a memory of 2000 pages, and 1024 are accepted',
    )
    const wasm = buildLens({ names: ['alloc', null, 'set_param'] })
    const missing = await trial({ lenses: [{ wasm }] })
    assert.deepEqual(found(missing), [
      'error (compile failure) WASM_MISSING_EXPORT: lens 1 exports no function transform',
    ])
    assert.deepEqual(missing.findings[0]?.blocks, [21_000_000], 'no other block is tried')
  })

  it('what the lens misses of the query, with the blocks', async () => {
    const report = await trial({ ...transfers, query: 'Log { address topics }' })
    assert.deepEqual(found(report), [
      "error (run failure) QUERY_MISSING_EVM_FIELD: lens 1 failed: the document has no field 'data': the query of the View has to select it",
    ])
    assert.deepEqual(report.findings[0]?.blocks, [21_000_000, 21_000_001, 21_000_002])
  })

  it('a flat field in place of the relation, where a field of the rows stays empty', async () => {
    const sdl = 'type Events { event: String from: String }'
    const lenses = [
      { wasm: shipped('decode_log'), args: { abi: [transferAbi], unmatched: 'drop' } },
    ]
    const codes = async (fields: string) =>
      (await trial({ query: `Log { address topics data ${fields} }`, sdl, lenses })).findings
        .filter(({ code }) => code.startsWith('QUERY_'))
        .map(({ severity, code, message }) => `${severity} ${code}: ${message}`)
    assert.deepEqual(await codes('transactionHash'), [
      'warning QUERY_FLAT_FIELD_INSTEAD_OF_RELATION: the query selects transactionHash, lenses for logs read transaction { hash }, and no row has a value of from',
    ])
    assert.deepEqual(await codes('transaction { hash }'), [
      'warning QUERY_MISSING_TRANSACTION_FIELD: the query selects transaction without from, and no row has a value of from',
    ])
    assert.deepEqual(await codes('transaction { hash from }'), [])
  })

  it('the relation or its field, where a lens says that it lacks it', async () => {
    const asking = (text: string) => [
      { wasm: buildLens({ transform: op.const(at.text), text: item(-1, text) }) },
    ]
    const codes = async (query: string, field: string) => {
      const lenses = asking(`no field '${field}'`)
      return (await trial({ query, lenses })).findings.map(({ code }) => code)
    }
    assert.deepEqual(await codes('Log { address transactionHash }', 'transaction'), [
      'QUERY_FLAT_FIELD_INSTEAD_OF_RELATION',
    ])
    assert.deepEqual(await codes('Log { address }', 'transaction'), ['QUERY_MISSING_EVM_RELATION'])
    assert.deepEqual(await codes('Log { transactionHash }', 'block'), [
      'QUERY_MISSING_EVM_RELATION',
    ])
    assert.deepEqual(await codes('Log { address transaction { hash } }', 'to'), [
      'QUERY_MISSING_TRANSACTION_FIELD',
    ])
    assert.deepEqual(await codes('Log { address }', 'to'), ['QUERY_MISSING_EVM_FIELD'])
  })

  it('a lens whose own memory cannot grow', async () => {
    const codes = async (most: number) => {
      const wasm = buildLens({ transform: op.callNext, pages: [1, most] })
      return (await trial({ lenses: [{ wasm }] })).findings.map(({ code, message }) => [
        code,
        message,
      ])
    }
    assert.deepEqual(await codes(3), [
      ['WASM_LOW_MEMORY', 'the memory of lens 1 cannot grow beyond 3 pages of 64 KiB'],
    ])
    assert.deepEqual(await codes(4), [])
  })
})

describe('a hostile lens', () => {
  it('that never ends is ended, and after three blocks no further one is tried', async () => {
    const wasm = buildLens({ transform: [...op.callNext, ...op.forever(), ...op.unreachable] })
    const logs = [{ address: usdc }]
    const progress: number[] = []
    const report = await trial({
      lenses: [{ wasm }],
      blocks: blocksOf(logs, logs, logs, logs, logs),
      onProgress: (done) => progress.push(done),
    })
    assert.deepEqual([report.passed, report.measured, progress], [false, null, [1, 2]])
    // Of a busy machine some are over by the clock and others by the processor, which are said apart.
    assert.deepEqual(new Set(report.findings.map(({ code }) => code)), new Set(['LENS_TIME_LIMIT']))
    assert.deepEqual(report.findings.flatMap(({ blocks }) => blocks).sort(), [1, 2, 3])
  })

  it('that takes all memory fails, and the program lives on', async () => {
    const wasm = buildLens({
      transform: [...op.const(1_000), ...op.memoryGrow, ...op.drop, ...op.callNext],
      pages: [1, 65_536],
    })
    const lenses = Array.from({ length: 6 }, () => ({ wasm }))
    assert.deepEqual(
      (await trial({ lenses })).findings.map(({ code }) => code),
      ['WASM_INSUFFICIENT_MEMORY'],
    )
  })

  it('cannot write into the terminal of who tests it, or make a message endless', async () => {
    const text = [...Buffer.from('x'.repeat(5_000))]
    const wasm = buildLens({
      transform: [...itemOf(-1, at.text, text.length), ...op.const(at.text)],
      text,
    })
    const [only] = (await trial({ lenses: [{ wasm }] })).findings
    assert.equal(only?.code, 'LENS_FAILED')
    assert.ok((only?.message.length ?? Infinity) < 600)
  })
})

describe('a test that is aborted', () => {
  it('ends with the reason, and leaves no folder behind', async (t) => {
    const folder = testDirectory(t)
    const { TMPDIR: before = '' } = process.env
    process.env['TMPDIR'] = folder
    t.after(() => {
      process.env['TMPDIR'] = before
    })
    const controller = new AbortController()
    controller.abort(new Error('enough'))
    await assert.rejects(trial({ ...transfers, signal: controller.signal }), /enough/)
    assert.deepEqual(readdirSync(folder), [])
  })
})
