/** The View of the Host that the examples are asked of: the one that `npm start` posts, with the lens that ships. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { ServedView } from '../../../src/graphql/catalog/view-entity.ts'
import { createViewSelector } from '../../../src/graphql/selection/view-selection.ts'
import { prepareProgram } from '../../../src/lens/program/program.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { parseRowType } from '../../../src/views/row-type.ts'
import { createRowPacker } from '../../../src/views/rows.ts'
import { parseViewQuery } from '../../../src/views/view-query.ts'

const token = '0x5fbdb2315678afecb367f032d93f642f64180aa3'

const sdl = `"Transfers of the token that npm start creates."
type TokenTransfer @materialized(if: true) {
  tokenAddress: String
  hash: String
  from: String @index
  to: String @index
  amount: BigInt
  blockNumber: Int
}`

const query = `Log(filter: {address: {_eq: "${token}"}}) { address topics data blockNumber transaction { hash } }`

const lens = new URL('../../../src/lenses/erc20_transfers.wasm', import.meta.url)

interface ExampleView extends ServedView {
  /** Computes the rows of a stored block and stores them. */
  compute(store: StoreWriter, height: number): Promise<void>
}

/** The View over a network, as in `Local__Devnet`. */
export function openExampleView(network: string): ExampleView {
  const rowType = parseRowType(sdl)
  const read = parseViewQuery(query, network)
  assert.ok('selection' in read)
  const selection = createViewSelector(network).compile(read)
  const args = JSON.stringify({ tokenAddress: token })
  const program = prepareProgram([{ wasm: readFileSync(lens), args }], rowType.feed)
  const slot = 1_000
  return {
    id: `0x${'5'.repeat(64)}`,
    name: rowType.name,
    slot,
    rowType,
    query: read,
    async compute(store, height) {
      const texts: string[] = []
      const snapshot = store.reader.snapshot()
      const blockHash = snapshot.header(height)?.hash ?? ''
      for await (const batch of selection.documents(snapshot, { from: height, to: height }))
        texts.push(...batch.map(({ text }) => text))
      snapshot.release()
      const rows = createRowPacker(rowType)
      program.run(texts, (document, source) =>
        rows.add(JSON.parse(Buffer.from(document).toString()), source),
      )
      await store.putViewRows(slot, [{ height, blockHash, rows: rows.finish() }])
    },
  }
}
