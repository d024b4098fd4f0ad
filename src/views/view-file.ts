/**
 * A View as one file of a folder, or one key of a ConfigMap. The bytes are the 20 of the sender's address and then the
 * wire bytes; the name is the keccak256 of exactly these bytes, which is the long ID, and an ending. So a name says
 * which View it is, two definitions of one View are one file, and a file that is half written is none.
 */
import { hexToBytes } from '@noble/hashes/utils.js'
import { ServiceError } from '../errors.ts'
import type { Registration } from './registration.ts'
import { viewLimits } from './view.ts'
import { viewIDs } from './view-id.ts'
import { checkSize } from './wire-reader.ts'

/** A View as it lies in a folder. */
interface ViewFile {
  /** `0x`, 64 lower-case digits and `.view`. */
  readonly name: string
  readonly bytes: Uint8Array
}

const senderBytes = 20

/** Largest file of a View. */
export const maxViewFile: number = senderBytes + viewLimits.wire

/** The file of a View; the height of its registration is no part of it. */
export function toViewFile({ sender, wire }: Pick<Registration, 'sender' | 'wire'>): ViewFile {
  return {
    name: `${viewIDs(sender, wire).id}.view`,
    bytes: new Uint8Array(Buffer.concat([hexToBytes(sender.slice(2)), wire])),
  }
}

/** The long ID of the View that a file of this name holds; null for names of other files. */
export function viewFileID(name: string): string | null {
  return /^(0x[0-9a-f]{64})\.view$/.exec(name)?.[1] ?? null
}

/**
 * What a file holds. Whether its name follows from that, and what the wire bytes mean, is not looked at.
 * @throws ServiceError `VIEWS_FILE_MALFORMED` where it is too short, `VIEWS_TOO_LARGE`.
 */
export function parseViewFile(bytes: Uint8Array): Pick<Registration, 'sender' | 'wire'> {
  if (bytes.length <= senderBytes)
    throw new ServiceError(
      'VIEWS_FILE_MALFORMED',
      `a file of a View has ${bytes.length} bytes, where ${senderBytes} are the sender alone`,
      {
        facts: { bytes: bytes.length },
        remedy: 'Write the 20 bytes of the sender’s address, and then the wire bytes.',
      },
    )
  const wire = new Uint8Array(bytes.subarray(senderBytes))
  checkSize('the View', wire.length, viewLimits.wire)
  return { sender: `0x${Buffer.from(bytes.subarray(0, senderBytes)).toString('hex')}`, wire }
}
