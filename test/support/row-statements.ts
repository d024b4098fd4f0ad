/** Statements about rows for tests of what keeps them: nothing here signs. */
import type { RowStatement } from '../../src/row-votes/row-statement.ts'
import { blockRoot, sortLeaves } from '../../src/row-votes/view-leaf.ts'
import { namedHash, opaqueNetwork } from './chain/opaque-blocks.ts'

interface StatementParts {
  /** Names of Views. */
  readonly views?: readonly string[]
  readonly host?: string
  readonly runtime?: number
}

/** What a made-up Host says of these Views, the same for the same arguments. */
export function opaqueStatement(
  height: number,
  blockHash: string,
  { views = ['a View'], host = '02'.repeat(33), runtime = 1 }: StatementParts = {},
): RowStatement {
  const leaves = sortLeaves(
    views.map((name) => ({
      view: namedHash(name),
      rowsRoot: namedHash(`rows of ${name}`).slice(2),
      count: 1,
    })),
  )
  return {
    network: opaqueNetwork,
    runtime,
    blockNumber: height,
    blockHash,
    root: blockRoot(leaves),
    leaves,
    signatureType: host.length === 64 ? 'Ed25519' : 'ES256K',
    signatureIdentity: host,
    signatureValue: 'ab'.repeat(70),
  }
}
