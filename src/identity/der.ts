/** The one DER form of an ECDSA signature that counts (BIP 66), with S in the lower half (BIP 146). */

/** Half of the order of secp256k1 (SEC 2 2.4.1), big-endian. */
const halfOrder = Buffer.from(
  '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0',
  'hex',
)
const order = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex')

/** True for `30 len 02 len R 02 len S`, minimal and positive, 0 < R < n and 0 < S <= n/2. */
export function isStrictDer(der: Uint8Array): boolean {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return false
  const r = integerAt(der, 2)
  if (r === null) return false
  const s = integerAt(der, r.end)
  if (s === null || s.end !== der.length) return false
  return isBelow(r.value, order) && !isBelow(halfOrder, s.value)
}

interface DerInteger {
  /** Big-endian without the sign byte, never empty and never zero. */
  readonly value: Uint8Array
  readonly end: number
}

/** Null for what is no minimal, positive integer. One that is cut off ends behind the signature. */
function integerAt(der: Uint8Array, start: number): DerInteger | null {
  const [tag, length = 0] = der.subarray(start)
  if (tag !== 0x02) return null
  const end = start + 2 + length
  const bytes = der.subarray(start + 2, end)
  const [first = 0, second = 0] = bytes
  if (first >= 0x80) return null
  if (first !== 0) return { value: bytes, end }
  return second >= 0x80 ? { value: bytes.subarray(1), end } : null
}

/** Compares two big-endian numbers without leading zeros. */
function isBelow(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length ? Buffer.compare(a, b) < 0 : a.length < b.length
}
