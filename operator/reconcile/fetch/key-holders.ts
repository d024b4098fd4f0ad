/**
 * Which resource of a kind has which keyring key. A peer ID follows from the key and the program alone, so
 * no two replicas of a kind may have one key, whatever resource they belong to.
 */
import type { Logger } from 'pino'
import type { Workload } from '../../api.ts'
import { keyOf } from '../../runtime/client/resource-type.ts'

/** A key of this resource that another one has. */
export interface SharedKey {
  /** `namespace/name` of the other. */
  readonly holder: string
  readonly fingerprint: string
}

/** Keeps which resource has which keys, by fingerprint; `owner` is `namespace/name`. */
export interface KeyHolders {
  /**
   * Registers the keys that a resource has now, by fingerprint; keys it had before are free again. Returns those
   * that another one had first.
   */
  hold(owner: string, fingerprints: readonly string[]): SharedKey[]
  /** The resource is gone. */
  release(owner: string): void
}

/**
 * Begins with the statuses of these resources, read at the first call: a resource that has run with a key goes
 * before one that would like to.
 */
export function createKeyHolders(resources: () => Iterable<Workload>): KeyHolders {
  const holders = new Map<string, string>()
  const held = new Map<string, readonly string[]>()
  let isSeeded = false

  const release = (owner: string): void => {
    for (const fingerprint of held.get(owner) ?? []) holders.delete(fingerprint)
    held.delete(owner)
  }
  const hold = (owner: string, fingerprints: readonly string[]): SharedKey[] => {
    release(owner)
    const free = fingerprints.filter((fingerprint) => !holders.has(fingerprint))
    for (const fingerprint of free) holders.set(fingerprint, owner)
    if (free.length > 0) held.set(owner, free)
    return fingerprints.flatMap((fingerprint) => {
      const holder = holders.get(fingerprint) ?? owner
      return holder === owner ? [] : [{ holder, fingerprint }]
    })
  }
  return {
    hold(owner, fingerprints) {
      if (!isSeeded) {
        isSeeded = true
        for (const { metadata, status } of resources()) {
          const known = (status?.nodes ?? []).flatMap((node) => node.keyringFingerprint ?? [])
          hold(keyOf(metadata.namespace, metadata.name), known)
        }
      }
      return hold(owner, fingerprints)
    },
    release,
  }
}

/**
 * Names the holders to admins, once each time they are others: the status of a resource must not name what is in
 * other namespaces. `memory` is that of the resource.
 */
export function logHolders(
  memory: { keyHolders: string },
  shared: readonly SharedKey[],
  log: Pick<Logger, 'warn'>,
): void {
  const holders = [...new Set(shared.map(({ holder }) => holder))].toSorted()
  const named = holders.join(' ')
  if (named === memory.keyHolders) return
  memory.keyHolders = named
  if (named !== '') log.warn({ holders }, 'other resources have a keyring key of this one')
}
