/** Amounts of the registry chain's coin as people write and read them. */

const decimals = 18

/** An amount with the symbol of the coin, as in `0.0025 SHNZ`. */
export function amountText(amount: bigint): string {
  const digits = amount.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, -decimals)
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  return `${whole}${fraction === '' ? '' : `.${fraction}`} SHNZ`
}

/** Smallest units of an amount as in `0.0025`, with or without the symbol; null for what is none. */
export function parseAmount(text: string): bigint | null {
  const found = /^(\d{1,18})(?:\.(\d{1,18}))?(?: ?SHNZ)?$/.exec(text)
  if (found === null) return null
  const [, whole = '', fraction = ''] = found
  return BigInt(`${whole}${fraction.padEnd(decimals, '0')}`)
}
