/** Statements about rows with good signatures. */
import type { DigestSigner } from '../../src/identity/signature.ts'
import { type RowStatement, rowsDigest } from '../../src/row-votes/row-statement.ts'
import { blockRoot, type ViewLeaf } from '../../src/row-votes/view-leaf.ts'
import { namedHash } from './chain/opaque-blocks.ts'
import { opaqueStatement } from './row-statements.ts'

interface SignedParts {
  readonly signer: DigestSigner
  /** Names of Views. */
  readonly views?: readonly string[]
  readonly runtime?: number
  /** As in `Ethereum__Mainnet`, the default. */
  readonly network?: string
  /** Whether it says other rows of these Views. */
  readonly isFalse?: boolean
}

/** What a Host signed of made-up Views, the same for the same arguments. */
export function signedStatement(
  height: number,
  blockHash: string,
  { isFalse = false, ...parts }: SignedParts,
): RowStatement {
  const { leaves } = opaqueStatement(height, blockHash, parts)
  const said = leaves.map((leaf) =>
    isFalse ? { ...leaf, rowsRoot: namedHash(`false ${leaf.view}`).slice(2) } : leaf,
  )
  return signedLeaves(height, blockHash, said, parts)
}

/** What a Host signed of these Views, which are in the order of the tree. */
export function signedLeaves(
  height: number,
  blockHash: string,
  leaves: readonly ViewLeaf[],
  { signer, runtime, network }: Pick<SignedParts, 'signer' | 'runtime' | 'network'>,
): RowStatement {
  const made = opaqueStatement(height, blockHash, runtime === undefined ? {} : { runtime })
  const statement = { ...made, leaves, root: blockRoot(leaves), ...(network && { network }) }
  const { type: signatureType, identity: signatureIdentity } = signer
  const signatureValue = signer.sign(rowsDigest(statement))
  return { ...statement, signatureType, signatureIdentity, signatureValue }
}
