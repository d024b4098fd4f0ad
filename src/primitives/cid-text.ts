/**
 * The form that CIDs of ours have, as bytes and as lower-case base32
 * (https://github.com/multiformats/cid). Nothing here needs Node: browsers read CIDs as well.
 */

/**
 * Version 1, dag-cbor, sha2-256, 32 bytes: the four bytes before the digest in every CID of ours; and
 * the length of the whole.
 */
export const cidForm = { prefix: 0x01711220, bytes: 36 } as const

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const digitValues: ReadonlyMap<string, number> = new Map(
  [...alphabet].map((letter, value) => [letter, value]),
)
const textLength = 1 + Math.ceil((cidForm.bytes * 8) / 5)

/** The text form of a CID, as in `bafyrei...`. */
export function cidText(cid: Uint8Array): string {
  let text = 'b'
  let bits = 0
  let pending = 0
  for (const byte of cid) {
    pending = ((pending & 0xff) << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet[(pending >>> bits) & 31]
    }
  }
  return bits === 0 ? text : text + alphabet[(pending << (5 - bits)) & 31]
}

/** Reads the text form; null when it is not a CID of the kind that documents have. */
export function parseCid(text: string): Uint8Array | null {
  if (text.length !== textLength || text[0] !== 'b') return null
  const cid = new Uint8Array(cidForm.bytes)
  let bits = 0
  let pending = 0
  let at = 0
  for (const letter of text.slice(1)) {
    const value = digitValues.get(letter)
    if (value === undefined) return null
    pending = ((pending & 0xff) << 5) | value
    bits += 5
    if (bits < 8) continue
    bits -= 8
    cid[at++] = pending >>> bits
  }
  const isPaddingZero = (pending & ((1 << bits) - 1)) === 0
  return isPaddingZero && new DataView(cid.buffer).getUint32(0) === cidForm.prefix ? cid : null
}
