/**
 * The objects of one kind as they are known: from lists and watches, and from the answers to our own writes,
 * whichever is newer. It never goes back to an older state.
 */
import { isNewer } from '../client/kubernetes-object.ts'

/** What is known of an object. */
export interface Cached<C> {
  /** `namespace/name`. */
  readonly key: string
  readonly uid: string
  readonly resourceVersion: string
  /** What is kept of it. */
  readonly value: C
}

/** An object came (no `before`), changed, or went (no `after`). */
export interface Change<C> {
  readonly key: string
  readonly before: Cached<C> | null
  readonly after: Cached<C> | null
  /** True where it was found by a list. */
  readonly listed: boolean
}

export interface ObjectCache<C> {
  get(key: string): Cached<C> | undefined
  values(): IterableIterator<Cached<C>>
  size(): number
  /** All objects there were at `resourceVersion`. */
  replaceAll(entries: readonly Cached<C>[], resourceVersion: string): void
  put(entry: Cached<C>): void
  /**
   * A watch reported that it is gone, or no longer selected, and at which resourceVersion. The answer to a
   * write of ours may arrive after that with an earlier state.
   */
  remove(key: string, uid: string, resourceVersion: string): void
  /** The answer to a write of ours was that it is gone; a watch may still report earlier states. */
  forget(key: string, uid: string): void
}

/** Removals that are remembered; an answer that is overtaken is overtaken by a few. */
const maxRemembered = 1_024

/** `onChange` is called after each change, one by one. */
export function createObjectCache<C>(onChange: (change: Change<C>) => void): ObjectCache<C> {
  const entries = new Map<string, Cached<C>>()
  const gone = new Set<string>()
  const removedAt = new Map<string, string>()

  const isOvertaken = ({ uid, resourceVersion }: Cached<C>): boolean => {
    const removal = removedAt.get(uid)
    return gone.has(uid) || (removal !== undefined && !isNewer(resourceVersion, removal))
  }
  const put = (entry: Cached<C>, listed: boolean): void => {
    const { key } = entry
    const before = entries.get(key) ?? null
    if (isOvertaken(entry)) return
    removedAt.delete(entry.uid)
    if (before !== null && !isNewer(entry.resourceVersion, before.resourceVersion)) return
    entries.set(key, entry)
    const isReplaced = before !== null && before.uid !== entry.uid
    if (isReplaced) onChange({ key, before, after: null, listed })
    onChange({ key, before: isReplaced ? null : before, after: entry, listed })
  }
  const remove = (key: string, uid: string, listed: boolean): void => {
    const before = entries.get(key)
    if (before?.uid !== uid) return
    entries.delete(key)
    onChange({ key, before, after: null, listed })
  }
  return {
    get: (key) => entries.get(key),
    values: () => entries.values(),
    size: () => entries.size,
    replaceAll(found, resourceVersion) {
      const keys = new Set(found.map(({ key }) => key))
      const uids = new Set(found.map(({ uid }) => uid))
      for (const { key, uid, resourceVersion: known } of [...entries.values()]) {
        if (!keys.has(key) && !isNewer(known, resourceVersion)) remove(key, uid, true)
      }
      for (const uid of gone) if (!uids.has(uid)) gone.delete(uid)
      for (const entry of found) put(entry, true)
    },
    put: (entry) => put(entry, false),
    remove(key, uid, resourceVersion) {
      gone.delete(uid)
      const [oldest] = removedAt.size < maxRemembered ? [] : removedAt.keys()
      if (oldest !== undefined) removedAt.delete(oldest)
      removedAt.set(uid, resourceVersion)
      remove(key, uid, false)
    },
    forget(key, uid) {
      gone.add(uid)
      remove(key, uid, false)
    },
  }
}
