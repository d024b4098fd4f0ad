/** Times as Kubernetes writes them. */

/** With six decimals, which Leases and Events insist on: 2026-01-02T03:04:05.678000Z. */
export function toMicroTime(at: Date): string {
  return at.toISOString().replace('Z', '000Z')
}

/** In whole seconds, as in conditions: 2026-01-02T03:04:05Z. */
export function toTime(at: Date): string {
  return at.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** Times in objects: text in JSON, whatever client-node's types say. */
/** Milliseconds since 1970; null where there is no time, or none that can be read. */
export function timeOf(time: Date | string | undefined): number | null {
  const ms = time === undefined ? Number.NaN : new Date(time).getTime()
  return Number.isNaN(ms) ? null : ms
}
