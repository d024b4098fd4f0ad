/**
 * Account addresses of the registry chain as older generations of it write them: `shinzo1…`, which is Bech32
 * (https://github.com/bitcoin/bips/blob/master/bip-0173.mediawiki) over the 20 bytes of the same account's 0x address.
 */
const characters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
const checksumLength = 6
/** Of an address with the longest prefix that chains have. */
const maxLength = 90
const addressBytes = 20
const chainPrefix = 'shinzo'
const noChecksum: readonly number[] = Array.from({ length: checksumLength }, () => 0)

/** The account as 0x and 40 lower-case digits; null for what is no Bech32 address of 20 bytes. */
export function fromBech32(text: string): string | null {
  if (text.length > maxLength) return null
  const lower = text.toLowerCase()
  if (text !== lower && text !== text.toUpperCase()) return null
  const separator = lower.lastIndexOf('1')
  const prefix = lower.slice(0, separator)
  if (separator < 1 || !/^[!-~]+$/.test(prefix)) return null
  const words = [...lower.slice(separator + 1)].map((character) => characters.indexOf(character))
  if (words.includes(-1)) return null
  if (checksum([...expanded(prefix), ...words]) !== 1) return null
  const bytes = toBytes(words.slice(0, -checksumLength))
  return bytes?.length === addressBytes ? `0x${bytes.toString('hex')}` : null
}

/** An account (0x and 40 digits) in Bech32 under the prefix of the registry chain. */
export function toBech32(account: string): string {
  const words = toWords(Buffer.from(account.slice(2), 'hex'))
  const sum = checksum([...expanded(chainPrefix), ...words, ...noChecksum]) ^ 1
  const last = noChecksum.map((_, place) => (sum >> (5 * (checksumLength - 1 - place))) & 31)
  const text = [...words, ...last].map((word) => characters[word]).join('')
  return `${chainPrefix}1${text}`
}

function expanded(prefix: string): number[] {
  const codes = [...prefix].map((character) => character.charCodeAt(0))
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)]
}

function checksum(words: readonly number[]): number {
  return words.reduce((sum, word) => {
    const shifted = ((sum & 0x1ffffff) << 5) ^ word
    return generators.reduce(
      (value, generator, bit) => ((sum >>> (25 + bit)) & 1 ? value ^ generator : value),
      shifted,
    )
  }, 1)
}

/** Bytes as groups of 5 bits; 20 bytes need no padding. */
function toWords(bytes: Uint8Array): number[] {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((group) => Number.parseInt(group, 2))
}

/** Groups of 5 bits as bytes; null where bits are left that padding would not leave. */
function toBytes(words: readonly number[]): Buffer | null {
  const bytes: number[] = []
  let value = 0
  let bits = 0
  for (const word of words) {
    value = ((value << 5) | word) & 0xfff
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push((value >> bits) & 0xff)
  }
  const isPadding = bits < 5 && (value & ((1 << bits) - 1)) === 0
  return isPadding ? Buffer.from(bytes) : null
}
