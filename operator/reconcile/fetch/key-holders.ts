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

/** A key that a resource has, or had when it was last seen. */
export interface HeldKey {
  readonly fingerprint: string
  /**
   * Whether its keyring has the key now, and its status or its claim says that it was used before. Fingerprints are no
   * secret, and who may write a claim may mark it with any: one that is only said gives way to one that is shown.
   */
  readonly isShown: boolean
}

/** Keeps which resource has which keys, by fingerprint; `owner` is `namespace/name`. */
export interface KeyHolders {
  /**
   * Registers the keys that a resource has now; keys it had before are free again. Returns those that another one had
   * first, or has shown.
   */
  hold(owner: string, keys: readonly HeldKey[]): SharedKey[]
  /** The resource is gone. */
  release(owner: string): void
}

interface Holder {
  readonly owner: string
  /** Whether it has shown the key since the operator began, also where the key is gone from its keyring since. */
  readonly hasShown: boolean
}

/**
 * Begins with the statuses of these resources, read at the first call: a resource that has run with a key goes
 * before one that would like to.
 */
export function createKeyHolders(resources: () => Iterable<Workload>): KeyHolders {
  const holders = new Map<string, Holder>()
  const held = new Map<string, readonly string[]>()
  let isSeeded = false

  const release = (owner: string): void => {
    for (const fingerprint of held.get(owner) ?? []) {
      if (holders.get(fingerprint)?.owner === owner) holders.delete(fingerprint)
    }
    held.delete(owner)
  }
  const hold = (owner: string, keys: readonly HeldKey[]): SharedKey[] => {
    const wanted = keys.map(({ fingerprint, isShown }) => {
      const holder = holders.get(fingerprint)
      return { fingerprint, hasShown: isShown || (holder?.owner === owner && holder.hasShown) }
    })
    release(owner)
    for (const { fingerprint, hasShown } of wanted) {
      const holder = holders.get(fingerprint)
      if (holder === undefined || (hasShown && !holder.hasShown))
        holders.set(fingerprint, { owner, hasShown })
    }
    const fingerprints = wanted.map(({ fingerprint }) => fingerprint)
    held.set(owner, fingerprints)
    return fingerprints.flatMap((fingerprint) => {
      const holder = holders.get(fingerprint)?.owner ?? owner
      return holder === owner ? [] : [{ holder, fingerprint }]
    })
  }
  return {
    hold(owner, keys) {
      if (!isSeeded) {
        isSeeded = true
        for (const { metadata, status } of resources()) {
          const known = (status?.nodes ?? []).flatMap((node) => node.keyringFingerprint ?? [])
          const said = known.map((fingerprint) => ({ fingerprint, isShown: false }))
          hold(keyOf(metadata.namespace, metadata.name), said)
        }
      }
      return hold(owner, keys)
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
