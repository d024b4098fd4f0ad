/** Made-up leaves, and statements with any of them. */
import fc from 'fast-check'
import type { RowStatement } from '../../src/row-votes/row-statement.ts'
import { blockRoot, sortLeaves, type ViewLeaf } from '../../src/row-votes/view-leaf.ts'
import { namedHash } from '../support/chain/opaque-blocks.ts'

/** A leaf of its own for each number; lower numbers are those of lower Views. */
export function leafOf(number: number): ViewLeaf {
  const view = `0x${number.toString(16).padStart(64, '0')}`
  return { view, rowsRoot: namedHash(`rows ${number}`).slice(2), count: number }
}

const hex = (bytes: number): fc.Arbitrary<string> =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((each) => Buffer.from(each).toString('hex'))
const leaf = fc.record(
  { view: hex(32).map((text) => `0x${text}`), rowsRoot: hex(32), count: fc.nat(2 ** 32 - 1) },
  { noNullPrototype: true },
)

/** Leaves of different Views, in order. */
export const anyLeaves: fc.Arbitrary<ViewLeaf[]> = fc
  .uniqueArray(leaf, { selector: ({ view }) => view, minLength: 1, maxLength: 40, size: 'max' })
  .map(sortLeaves)

const signature = fc.oneof(
  fc.tuple(fc.constant('ES256K' as const), hex(33)),
  fc.tuple(fc.constant('Ed25519' as const), hex(32)),
)

/** Statements in the form that is accepted; their signatures are random bytes. */
export const anyStatement: fc.Arbitrary<RowStatement> = fc
  .record({
    network: fc.string({ maxLength: 130, size: 'max' }),
    runtime: fc.nat(2 ** 31 - 1),
    blockNumber: fc.nat(2 ** 31 - 1),
    blockHash: hex(32).map((text) => `0x${text}`),
    leaves: anyLeaves,
    signature,
    signatureValue: hex(70),
  })
  .map(({ signature: [signatureType, signatureIdentity], ...rest }) => ({
    ...rest,
    root: blockRoot(rest.leaves),
    signatureType,
    signatureIdentity,
  }))
