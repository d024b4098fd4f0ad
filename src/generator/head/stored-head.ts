/**
 * The newest head of this Generator in its store. Each is there before anybody gets it, so that the next
 * one has another sequence whatever happens to the program.
 */
import type { Signer } from '../../identity/signature.ts'
import { decodeHead, encodeHead, type HeadStatement, headDigest } from '../../primitives/head.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { Clock } from './clock.ts'

/** A head as it travels. */
export interface HeadMessage {
  readonly bytes: Uint8Array
  readonly sequence: number
}

export interface StoredHead {
  /** Sequence of the head that was stored when this program started; null where there was none. */
  readonly before: number | null
  /** Signs and stores the next head; resolves when it is on the disk. Throws what the store throws. */
  put(statement: Omit<HeadStatement, 'network' | 'sequence'>): Promise<HeadMessage>
  /** The next head will be above this sequence. False where it is anyway. */
  goAbove(sequence: number): boolean
}

export interface StoredHeadParts {
  readonly signer: Signer
  readonly store: Pick<StoreWriter, 'putRecord' | 'reader'>
  readonly clock: Pick<Clock, 'unixMs'>
}

/** Name of the record, which holds the message of the head. */
const recordName = 'head'

/** Goes on after what is stored, or begins with the milliseconds since 1970. */
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
