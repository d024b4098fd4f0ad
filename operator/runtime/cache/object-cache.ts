/**
 * The objects of one kind as they are known: from lists and watches, and from the answers to our own writes,
 * whichever is newer. It goes back to an older state only with a list, since nothing that was known before the
 * list began can be newer than it: unless etcd was restored from a backup, whose older state is what holds then.
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
  /**
   * A list begins; the function takes what it found, all objects there were at `resourceVersion`. It replaces
   * everything but what our own writes were answered meanwhile. `isBack`: the list is of an older state than the
   * one that was known, so that an object may be another though its version is the same.
   */
  beginList(): (
    found: readonly Cached<C>[],
    resourceVersion: string,
    options?: { readonly isBack: boolean },
  ) => void
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
  /** Keys of what our own writes were answered while a list is read. */
  let written: Set<string> | null = null

  const isOvertaken = ({ uid, resourceVersion }: Cached<C>): boolean => {
    const removal = removedAt.get(uid)
    return gone.has(uid) || (removal !== undefined && !isNewer(resourceVersion, removal))
  }
  const set = (entry: Cached<C>, listed: boolean): void => {
    const { key, uid } = entry
    const before = entries.get(key) ?? null
    removedAt.delete(uid)
    entries.set(key, entry)
    const isReplaced = before !== null && before.uid !== uid
    if (isReplaced) onChange({ key, before, after: null, listed })
    onChange({ key, before: isReplaced ? null : before, after: entry, listed })
  }
  const isKnown = ({ key, resourceVersion }: Cached<C>): boolean => {
    const known = entries.get(key)
    return known !== undefined && !isNewer(resourceVersion, known.resourceVersion)
  }
  const remove = (key: string, uid: string, listed: boolean): void => {
    const before = entries.get(key)
    if (before?.uid !== uid) return
    entries.delete(key)
    onChange({ key, before, after: null, listed })
  }
  const replaceAll = (found: readonly Cached<C>[], version: string, isBack: boolean): void => {
    const meanwhile = written ?? new Set()
    written = null
    const isAhead = ({ key, resourceVersion }: Cached<C>): boolean =>
      meanwhile.has(key) && isNewer(resourceVersion, version)
    const isNews = (entry: Cached<C>): boolean => {
      const known = entries.get(entry.key)
      if (known === undefined) return true
      return !isAhead(known) && (isBack || !isSame(known, entry))
    }
    const missing = missingFrom(found, entries).filter((entry) => !isAhead(entry))
    for (const { key, uid } of missing) remove(key, uid, true)
    const news = found.filter((entry) => isNews(entry) && !isOvertaken(entry))
    for (const entry of news) set(entry, true)
  }
  return {
    get: (key) => entries.get(key),
    values: () => entries.values(),
    size: () => entries.size,
    beginList() {
      gone.clear()
      removedAt.clear()
      written = new Set()
      return (found, resourceVersion, { isBack } = { isBack: false }) =>
        replaceAll(found, resourceVersion, isBack)
    },
    put(entry) {
      if (isOvertaken(entry) || isKnown(entry)) return
      written?.add(entry.key)
      set(entry, false)
    },
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

function isSame(known: Cached<unknown>, entry: Cached<unknown>): boolean {
  return known.uid === entry.uid && known.resourceVersion === entry.resourceVersion
}

/** What is known and was not found. */
function missingFrom<C>(
  found: readonly Cached<C>[],
  known: ReadonlyMap<string, Cached<C>>,
): Cached<C>[] {
  const keys = new Set(found.map(({ key }) => key))
  return [...known.values()].filter(({ key }) => !keys.has(key))
}
