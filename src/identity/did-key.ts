/** The name of a secp256k1 key as a decentralised identifier (https://w3c-ccg.github.io/did-key-spec). */
const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Multicodec of a compressed secp256k1 key, as a varint. */
const codec = 'e701'

/** `did:key:z…` of a compressed key, given as 66 hex digits. */
export function didOfKey(publicKey: string): string {
  let rest = BigInt(`0x${codec}${publicKey}`)
  let text = ''
  while (rest > 0n) {
    text = `${alphabet[Number(rest % 58n)]}${text}`
    rest /= 58n
  }
  return `did:key:z${text}`
}
