/** What a multiaddr begins with: an IP address or a name, and who reaches it. */

/** Whether it begins with an IP address. */
export function hasIP(address: string): boolean {
  return /^\/ip[46]\//.test(address)
}

const privateRanges =
  /^\/(ip4\/(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.|127\.)|ip6\/(f[cd]|fe[89ab]|::1\/))/i

/**
 * Whether only private networks reach it: addresses of RFC 1918, RFC 6598, RFC 3927 and loopback, of IPv6
 * unique local (RFC 4193) and link-local.
 */
export function isPrivate(address: string): boolean {
  return privateRanges.test(address)
}
