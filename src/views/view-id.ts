/**
 * The two IDs of a View, both made of who registered it and its wire bytes: the service's, of 32 bytes, and the
 * address that the registry chain gives it. Either names the View wherever one is shown or asked for.
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { invariant } from '../errors.ts'
import { checksumAddress } from '../primitives/checksum-address.ts'

/** Both IDs of one View. */
interface ViewIDs {
  /** keccak256(sender ‖ wire): 0x and 64 digits, lower-case. */
  readonly id: string
  /** Last 20 bytes of keccak256("shinzo.view.v1" ‖ sender ‖ wire), with the checksum of EIP-55. */
  readonly address: string
}

/** The sender of a View that was never registered, unless its author names one. */
export const noSender: string = `0x${'0'.repeat(40)}`

const addressDomain = utf8ToBytes('shinzo.view.v1')
const addressPattern = /^0x[0-9a-f]{40}$/i
const idPattern = /^(?:[A-Za-z0-9_]+_)?0x([0-9a-f]{64})$/i

/** The IDs of the View that an address (0x and 40 digits, of either case) registered. */
export function viewIDs(sender: string, wire: Uint8Array): ViewIDs {
  invariant(addressPattern.test(sender), 'a sender is an address')
  const owned = concatBytes(hexToBytes(sender.slice(2)), wire)
  const domained = keccak_256(concatBytes(addressDomain, owned))
  return {
    id: `0x${bytesToHex(keccak_256(owned))}`,
    address: checksumAddress(`0x${bytesToHex(domained.subarray(12))}`),
  }
}

/**
 * What somebody typed, as the ID that it is; null where it is none. Older tools write the type's name and an
 * underscore before the long one. Case does not matter.
 */
export function parseViewID(text: string): Partial<ViewIDs> | null {
  const digits = idPattern.exec(text)?.[1]
  if (digits !== undefined) return { id: `0x${digits.toLowerCase()}` }
  return addressPattern.test(text) ? { address: checksumAddress(text.toLowerCase()) } : null
}
