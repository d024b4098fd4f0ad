/** What counts as one address: an IPv4 address, or an IPv6 network of 64 bits, as one customer gets. */
import type { Multiaddr } from '@multiformats/multiaddr'

/**
 * The group an address belongs to, `198.51.100.7` or `2001:db8:0:1::/64`. An IPv4 address mapped into
 * IPv6 (RFC 4291, 2.5.5.2) is the IPv4 address. What is neither is a group of its own kind.
 */
export function addressGroup(address: Multiaddr): string {
  const parts = address.getComponents()
  const host = parts.find(({ name }) => name === 'ip4' || name === 'ip6') ?? parts[0]
  const value = host?.value ?? 'unknown'
  return host?.name === 'ip6' ? groupOfIp6(value) : value
}

function groupOfIp6(text: string): string {
  const words = wordsOfIp6(text)
  const isMapped = words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff
  const [high = 0, low = 0] = words.slice(6)
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  const network = words.slice(0, 4).map((word) => word.toString(16))
  return `${network.join(':')}::/64`
}

/** The eight words of an IPv6 address in any of its forms (RFC 4291, 2.2). */
function wordsOfIp6(text: string): number[] {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text)
  const plain = dotted === null ? text : text.slice(0, dotted.index) + wordsOfIp4(dotted.slice(1))
  const [left = '', right] = plain.split('::')
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16))
  if (right === undefined) return read(left)
  const [head, tail] = [read(left), read(right)]
  return [...head, ...Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0), ...tail]
}

function wordsOfIp4(octets: readonly string[]): string {
  const [a = 0, b = 0, c = 0, d = 0] = octets.map(Number)
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}
