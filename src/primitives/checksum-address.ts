/** Addresses in the mixed case that reveals typing errors (https://eips.ethereum.org/EIPS/eip-55). */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** The checksum form of a lower-case address with 0x. */
export function checksumAddress(address: string): string {
  const digits = address.slice(2)
  const digest = bytesToHex(keccak_256(utf8ToBytes(digits)))
  const mixed = [...digits].map((digit, index) =>
    Number.parseInt(digest[index] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${mixed.join('')}`
}
