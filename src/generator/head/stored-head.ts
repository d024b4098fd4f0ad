/**
 * The newest head of this Generator in its store. Each head is stored before it is sent, so that no
 * sequence is used twice, even after a crash.
 */
import type { DigestSigner } from '../../identity/signature.ts'
import { decodeHead, encodeHead, type HeadStatement, headDigest } from '../../primitives/head.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { Clock } from './clock.ts'

/** A head as it is sent. */
export interface HeadMessage {
  readonly bytes: Uint8Array
  readonly sequence: number
}

export interface StoredHead {
  /** Sequence of the head that was stored when this program started; null where there was none. */
  readonly before: number | null
  /** Signs and stores the next head; resolves when it is on the disk. Throws what the store throws. */
  put(statement: Omit<HeadStatement, 'network' | 'sequence'>): Promise<HeadMessage>
  /** Makes the next head be above this sequence; false where it would be anyway. */
  goAbove(sequence: number): boolean
}

export interface StoredHeadParts {
  readonly signer: DigestSigner
  readonly store: Pick<StoreWriter, 'putRecord' | 'reader'>
  readonly clock: Pick<Clock, 'unixMs'>
}

/** Name of the record, which holds the message of the head. */
const recordName = 'head'

/** Continues after the stored head, or starts with the milliseconds since 1970. */
export function openStoredHead(network: string, parts: StoredHeadParts): StoredHead {
  const { signer, store, clock } = parts
  const before = storedSequence(store.reader, signer.identity)
  let last = before ?? clock.unixMs() - 1
  return {
    before,
    async put(place) {
      const statement = { network, ...place, sequence: ++last }
      const bytes = encodeHead({
        ...statement,
        signatureType: signer.type,
        signatureIdentity: signer.identity,
        signatureValue: signer.sign(headDigest(statement)),
      })
      await store.putRecord(recordName, bytes)
      return { bytes, sequence: statement.sequence }
    },
    goAbove(sequence) {
      // Above the highest number there is none.
      if (sequence <= last || sequence === Number.MAX_SAFE_INTEGER) return false
      last = sequence
      return true
    },
  }
}

/** Null where no head is stored, or that of another key. */
function storedSequence(reader: StoreReader, identity: string): number | null {
  const message = reader.read((snapshot) => snapshot.record(recordName))
  if (message === undefined) return null
  const { sequence, signatureIdentity } = decodeHead(message)
  return signatureIdentity === identity ? sequence : null
}
