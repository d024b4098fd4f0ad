/** Whole numbers in base58, as names of keys have them (https://datatracker.ietf.org/doc/html/draft-msporny-base58-03). */
const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const base = 58n

/** The digits of a number; nothing for 0. */
export function toBase58(number: bigint): string {
  let text = ''
  for (let rest = number; rest > 0n; rest /= base) text = `${alphabet[Number(rest % base)]}${text}`
  return text
}

/** The number that a text of these digits stands for. */
export function fromBase58(text: string): bigint {
  let number = 0n
  for (const digit of text) number = number * base + BigInt(alphabet.indexOf(digit))
  return number
}
