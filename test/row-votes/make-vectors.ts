/**
 * Writes test/fixtures/row-votes/statements.json: from rows of Views to what a Host signs of them, as bytes. Run by
 * hand (`npx node test/row-votes/make-vectors.ts`) when a case is added; a change of an existing one breaks every Host
 * and every application that runs today.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createSigner } from '../../src/identity/signature.ts'
import { createByteWriter } from '../../src/primitives/cbor.ts'
import type { SignatureType } from '../../src/primitives/signature.ts'
import {
  encodeRowStatement,
  type RowStatement,
  rowsDigest,
} from '../../src/row-votes/row-statement.ts'
import { encodeStatementExcerpt, excerptOf } from '../../src/row-votes/statement-excerpt.ts'
import {
  blockRoot,
  proveLeaves,
  sortLeaves,
  type ViewLeaf,
  writeLeaf,
} from '../../src/row-votes/view-leaf.ts'
import { writeRow } from '../../src/views/rows/row-codec.ts'
import { parseRowType } from '../../src/views/rows/row-type.ts'
import { createRowPacker } from '../../src/views/rows/rows.ts'

interface CaseRow {
  readonly source: number
  readonly values: readonly (string | number | boolean | null)[]
}

interface Case extends Pick<RowStatement, 'network' | 'runtime' | 'blockNumber'> {
  readonly name: string
  readonly type: SignatureType
  readonly views: readonly { readonly sdl: string; readonly rows: readonly CaseRow[] }[]
}

const madeUp = (name: string): string => createHash('sha256').update(name).digest('hex')
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const transfers = 'type Transfer { from: String to: String value: Int isLarge: Boolean }'
const transfer = (index: number): CaseRow => ({
  source: index,
  values: [`0x${madeUp('from').slice(0, 40)}`, null, index * 1_000 - 2, index > 1],
})
const many = { sdl: 'type Tick { at: Int }', rows: Array.from({ length: 67 }, (_, at) => tick(at)) }

function tick(at: number): CaseRow {
  return { source: Math.floor(at / 2), values: [at] }
}

const cases: readonly Case[] = [
  {
    name: 'one View without rows',
    network: 'Ethereum__Mainnet',
    runtime: 1,
    blockNumber: 23_000_000,
    type: 'ES256K',
    views: [{ sdl: transfers, rows: [] }],
  },
  {
    name: 'three Views, one of them with no row and one with rows of two chunks',
    network: 'Ethereum__Mainnet',
    runtime: 1,
    blockNumber: 23_000_001,
    type: 'ES256K',
    views: [
      { sdl: transfers, rows: [0, 1, 2].map(transfer) },
      { sdl: 'type Quiet { at: Int }', rows: [] },
      many,
    ],
  },
  {
    name: 'two Views, a later version of the runtime, signed with Ed25519',
    network: 'Local__Devnet',
    runtime: 300,
    blockNumber: 0,
    type: 'Ed25519',
    views: [{ sdl: transfers, rows: [transfer(1)] }, many],
  },
]

function viewOf({ sdl, rows }: Case['views'][number]): {
  view: string
  rows: object[]
  leaf: ViewLeaf
} {
  const rowType = parseRowType(sdl)
  const bytes = rows.map(({ source, values }) => {
    const out = createByteWriter()
    writeRow(out, values, source)
    return hex(out.bytes.subarray(0, out.at))
  })
  return {
    view: idOf(sdl),
    rows: rows.map((row, at) => ({ ...row, bytes: bytes[at] })),
    leaf: leafOf(sdl, rowType, rows),
  }
}

function leafOf(
  sdl: string,
  rowType: ReturnType<typeof parseRowType>,
  rows: readonly CaseRow[],
): ViewLeaf {
  const packer = createRowPacker(rowType)
  for (const { source, values } of rows) {
    const named = rowType.fields.map(({ name }, index) => [name, values[index] ?? null])
    packer.add(Object.fromEntries(named), source)
  }
  const { root: rowsRoot, count } = packer.finish()
  return { view: idOf(sdl), rowsRoot, count }
}

const idOf = (sdl: string): string => `0x${madeUp(sdl)}`

function vectorOf({ name, type, network, runtime, blockNumber, views }: Case): object {
  const made = views.map(viewOf)
  const leaves = sortLeaves(made.map(({ leaf }) => leaf))
  const root = blockRoot(leaves)
  const block = { network, runtime, blockNumber, blockHash: `0x${madeUp(name)}`, root }
  const privateKey = madeUp(`a key of ${type} for vectors`)
  const signer = createSigner({ type, privateKey: Buffer.from(privateKey, 'hex') })
  const digest = rowsDigest(block)
  const statement: RowStatement = {
    ...block,
    leaves,
    signatureType: type,
    signatureIdentity: signer.identity,
    signatureValue: signer.sign(digest),
  }
  return {
    name,
    views: made.map(({ leaf: _, ...view }) => view),
    statement: { ...statement, root: undefined },
    leaves: leaves.map((leaf, index) => {
      const out = createByteWriter()
      writeLeaf(out, leaf)
      const [proof] = proveLeaves(leaves, ({ view }) => view === leaf.view)
      const path = proof?.path.map(hex)
      return { bytes: hex(out.bytes.subarray(0, out.at)), index, leaves: leaves.length, path }
    }),
    root,
    digest: hex(digest),
    privateKey,
    message: hex(encodeRowStatement(statement)),
    excerpts: leaves.map(({ view }, index) => {
      const views = [view, ...leaves.slice(index + 2).map((leaf) => leaf.view)]
      const excerpt = excerptOf(statement, new Set(views))
      return { views, message: excerpt && hex(encodeStatementExcerpt(excerpt)) }
    }),
  }
}

const about =
  'For each case: the rows of Views of a block, in their order, and what must follow from them. `bytes` of a row is the DAG-CBOR of [source, values], of a leaf that of [View ID, rows root, number of rows]; `rowsRoot` is the Merkle root (RFC 9162, SHA-256) over the rows of a View, `root` that over the leaves, sorted by their bytes; `path` leads from the leaf at `index` to it. `digest` is the SHA-256 that is signed: of the DAG-CBOR of ["viewmesh/rows/1", network, runtime version, number, hash, root]. `privateKey` gives the signature, and `message` is the statement as it travels. Each of `excerpts` is what travels to an application that follows these `views`: the DAG-CBOR of [2, network, runtime version, number, hash, root, [[leaf, index, number of leaves, path], ...], signature type, identity, signature]. Bytes in hex.'
const target = new URL('../fixtures/row-votes/statements.json', import.meta.url)
writeFileSync(target, `${JSON.stringify({ about, statements: cases.map(vectorOf) }, null, 1)}\n`)
