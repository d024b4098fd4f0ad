/**
 * Document identities. A `_docID` follows from the collection and the natural key, so it is the same
 * on every node, is never stored, and can be parsed again.
 */

/** Builds docIDs. Hashes are 0x-prefixed lower-case hex, identities lower-case hex without 0x. */
export const docIDs: {
  readonly block: (hash: string) => string
  readonly transaction: (hash: string) => string
  readonly log: (blockHash: string, logIndex: number) => string
  readonly entry: (transactionHash: string, index: number) => string
  readonly seal: (blockHash: string, identity: string) => string
  readonly snapshot: (startBlock: number, endBlock: number, identity: string) => string
} = {
  block: (hash) => `block-${hash}`,
  transaction: (hash) => `tx-${hash}`,
  log: (blockHash, logIndex) => `log-${blockHash}-${logIndex}`,
  entry: (transactionHash, index) => `entry-${transactionHash}-${index}`,
  seal: (blockHash, identity) => `seal-${blockHash}-${identity}`,
  snapshot: (startBlock, endBlock, identity) => `snapshot-${startBlock}-${endBlock}-${identity}`,
}

/** A parsed docID. */
export type DocID =
  | { readonly collection: 'Block'; readonly hash: string }
  | { readonly collection: 'Transaction'; readonly hash: string }
  | { readonly collection: 'Log'; readonly blockHash: string; readonly logIndex: number }
  | {
      readonly collection: 'AccessListEntry'
      readonly transactionHash: string
      readonly index: number
    }
  | { readonly collection: 'BlockSignature'; readonly blockHash: string; readonly identity: string }
  | {
      readonly collection: 'SnapshotSignature'
      readonly startBlock: number
      readonly endBlock: number
      readonly identity: string
    }

const shape =
  /^(?:(block|tx)-(0x[0-9a-f]{64})|(log|entry)-(0x[0-9a-f]{64})-(0|[1-9][0-9]{0,15})|seal-(0x[0-9a-f]{64})-([0-9a-f]{66}|[0-9a-f]{64})|snapshot-(0|[1-9][0-9]{0,15})-(0|[1-9][0-9]{0,15})-([0-9a-f]{66}|[0-9a-f]{64}))$/

/** Parses a docID; null when the text is not exactly what `docIDs` builds. */
export function parseDocID(text: string): DocID | null {
  const match = shape.exec(text)
  if (match === null) return null
  const [, whole, hash = '', indexed, owner = '', index = ''] = match
  if (whole === 'block') return { collection: 'Block', hash }
  if (whole === 'tx') return { collection: 'Transaction', hash }
  if (indexed !== undefined) return indexedDocID(indexed, owner, Number(index))
  return sealDocID(match)
}

function indexedDocID(prefix: string, owner: string, index: number): DocID | null {
  if (!Number.isSafeInteger(index)) return null
  return prefix === 'log'
    ? { collection: 'Log', blockHash: owner, logIndex: index }
    : { collection: 'AccessListEntry', transactionHash: owner, index }
}

function sealDocID(match: RegExpExecArray): DocID | null {
  const [, , , , , , blockHash, sealer = '', start = '', end = '', signer = ''] = match
  if (blockHash !== undefined) return { collection: 'BlockSignature', blockHash, identity: sealer }
  const startBlock = Number(start)
  const endBlock = Number(end)
  if (!Number.isSafeInteger(startBlock) || !Number.isSafeInteger(endBlock)) return null
  return { collection: 'SnapshotSignature', startBlock, endBlock, identity: signer }
}
