/** The short hash by which a module is known, on the registry chain as well. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@noble/hashes/utils.js'

/** 0x and the first 16 bytes of the module's keccak256, in hex. */
export function lensHash(wasm: Uint8Array): string {
  return `0x${bytesToHex(keccak_256(wasm).subarray(0, 16))}`
}
