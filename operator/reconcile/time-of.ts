/** Times in objects: text in JSON, whatever client-node's types say. */

/** Milliseconds since 1970; null where there is no time, or none that can be read. */
export function timeOf(time: Date | string | undefined): number | null {
  const ms = time === undefined ? Number.NaN : new Date(time).getTime()
  return Number.isNaN(ms) ? null : ms
}
