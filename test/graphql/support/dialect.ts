/**
 * The queries that users of such a service already have, run as they send them: over HTTP against a
 * small real store, the whole answer compared.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { cidText } from '../../../src/primitives/cid-text.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import {
  type ExpectedBlock,
  type ExpectedEntry,
  type ExpectedLog,
  type ExpectedTransaction,
  expectedDocuments,
} from '../../support/chain/expected-documents.ts'
import { sealBlock, type TestSealedBlock, testSigner } from '../../support/chain/sealed-blocks.ts'
import { openTestApi, type TestApi } from './graphql-server.ts'

/** A query and all of its answer's data. */
export interface DialectCase {
  /** What the query is for. */
  readonly name: string
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
  readonly data: unknown
}

const chain = createChain({
  seed: 'dialect',
  from: 101,
  count: 12,
  shape: { transactions: 4, logs: 6, entries: 3, calldataBytes: 68 },
})

const documents = expectedDocuments(chain)

/** Everything in the store. */
export const blocks: readonly ExpectedBlock[] = documents.blocks
export const transactions: readonly ExpectedTransaction[] = documents.transactions
export const logs: readonly ExpectedLog[] = documents.logs
export const entries: readonly ExpectedEntry[] = documents.entries

/** The Generators that sealed each block; the second one is missing from the newest block. */
const generators = ['first', 'second']
const signersOf = (number: number): string[] => generators.slice(0, number === 112 ? 1 : 2)

/** Each block's seals in the order in which they are stored: by identity. */
export const sealed: readonly (readonly TestSealedBlock[])[] = chain.map((block) =>
  signersOf(block.number)
    .map((name) => sealBlock(block, testSigner(name)))
    .toSorted((a, b) => (a.seal.signatureIdentity < b.seal.signatureIdentity ? -1 : 1)),
)

/** CIDs of a block's documents: the block, its transactions, its entries, its logs. */
export function cidsOf(blockIndex: number): readonly string[] {
  return (sealed[blockIndex]?.[0]?.cids ?? []).map(cidText)
}

/** An API over all of it. */
export async function openDialectApi(t: TestContext): Promise<TestApi> {
  const api = await openTestApi(t)
  for (const block of chain) await api.add(block, signersOf(block.number))
  return api
}

/** Asks each query and compares the whole answer. */
export async function runCases(t: TestContext, cases: readonly DialectCase[]): Promise<void> {
  const api = await openDialectApi(t)
  for (const { name, query, variables, data } of cases) {
    await t.test(name, async () => {
      assert.deepEqual(await api.ask(query, variables), { status: 200, body: { data } })
    })
  }
}

/** The last `count` of a list, newest first. */
export function newest<T>(list: readonly T[], count: number): T[] {
  return list.toReversed().slice(0, count)
}
