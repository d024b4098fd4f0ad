/** What all objects of Kubernetes have in common, as JSON carries it. */

/** What the operator reads of an object's metadata. */
export interface Metadata {
  readonly name?: string
  readonly namespace?: string
  readonly uid?: string
  /** Another one after each change; only those of one kind can be compared, see `isNewer`. */
  readonly resourceVersion?: string
  readonly generation?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** Any object. The types of client-node fit, and so do ours. */
export interface KubernetesObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: Metadata
}

/**
 * Whether one resourceVersion is later than another of the same kind: decimal numbers without leading
 * zeros (KEP-5504). Text that is none counts as newer, so that nothing is ever held to be stale by mistake.
 */
export function isNewer(version: string, than: string): boolean {
  if (!isNumber(version) || !isNumber(than)) return version !== than
  return BigInt(version) > BigInt(than)
}

function isNumber(version: string): boolean {
  return /^[1-9]\d*$/.test(version)
}
