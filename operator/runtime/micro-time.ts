/** Times as Kubernetes writes them. */

/** With six decimals, which Leases and Events insist on: 2026-01-02T03:04:05.678000Z. */
export function toMicroTime(at: Date): string {
  return at.toISOString().replace('Z', '000Z')
}

/** In whole seconds, as in conditions: 2026-01-02T03:04:05Z. */
export function toTime(at: Date): string {
  return at.toISOString().replace(/\.\d{3}Z$/, 'Z')
}
