/** The name of a secp256k1 key as a decentralised identifier (https://w3c-ccg.github.io/did-key-spec). */
import { toBase58 } from './base58.ts'

/** Multicodec of a compressed secp256k1 key, as a varint. */
const codec = 'e701'

/** `did:key:z…` of a compressed key, given as 66 hex digits. */
export function didOfKey(publicKey: string): string {
  return `did:key:z${toBase58(BigInt(`0x${codec}${publicKey}`))}`
}
