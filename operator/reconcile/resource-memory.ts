/** What a reconcile remembers of a resource until the next one; all of it can be found again. */
import type { Resource } from '../api.ts'
import type { ChildKind } from './cluster-view.ts'
import type { Keyring } from './keyring.ts'
import type { Troubles } from './lasting-trouble.ts'
import type { MissingKey } from './named-secrets.ts'
import type { StorageStatement } from './storage.ts'

/** What was found by asking, and for which question. */
export interface Looked<F> {
  readonly facts: F
  readonly keyring: Keyring
  /** Secrets that the spec names and that are not there. */
  readonly missing: readonly MissingKey[]
  /** While paused: Secrets that would be written, each in a few words. */
  readonly waiting: readonly string[]
  readonly atMs: number
  /** Changes when the question does. */
  readonly question: string
  /** Changes when pods come and go: who starts reads Secrets. */
  readonly occasion: string
}

export interface ResourceMemory<F> {
  looked: Looked<F> | null
  /** Objects that were seen as they should be. */
  readonly settled: Set<string>
  /** Hashes of what was last wanted of Secrets, by name, which tell a new wish from drift. */
  readonly secretWishes: Map<string, string>
  /** What was answered to claims that asked for more. */
  refusedGrowth: StorageStatement | null
  /** What replicas see and nobody was told of yet; what was to be told by an operator that ended is not. */
  readonly troubles: Troubles
}

export interface Memories<F> {
  of(resource: Resource): ResourceMemory<F>
  drop(key: string): void
}

/** A resource that is created again under its name begins with an empty memory. */
export function createMemories<F>(): Memories<F> {
  const memories = new Map<string, { readonly uid: string; readonly memory: ResourceMemory<F> }>()
  return {
    of({ metadata: { namespace, name, uid } }) {
      const key = `${namespace}/${name}`
      const known = memories.get(key)
      if (known?.uid === uid) return known.memory
      const memory = {
        looked: null,
        settled: new Set<string>(),
        secretWishes: new Map<string, string>(),
        refusedGrowth: null,
        troubles: new Map(),
      }
      memories.set(key, { uid, memory })
      return memory
    },
    drop: (key) => void memories.delete(key),
  }
}

export function childKey(kind: ChildKind, name: string): string {
  return `${kind} ${name}`
}
