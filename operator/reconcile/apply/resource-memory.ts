/** What a reconcile remembers of a resource until the next one; all of it can be found again. */
import type { Workload } from '../../api.ts'
import { type ForeignWrites, noForeignWrites } from '../evaluate/foreign-writes.ts'
import { type Management, unmanaged } from '../evaluate/management.ts'
import type { StorageStatement } from '../evaluate/storage.ts'
import type { Keyring } from '../fetch/keyring.ts'
import type { MissingKey } from '../fetch/named-secrets.ts'
import type { ChildKind } from '../observe/cluster-view.ts'
import { type Answers, noAnswers } from './answers.ts'

/** What was fetched, and what it was fetched for. */
export interface FetchedInputs<F> {
  readonly facts: F
  readonly keyring: Keyring
  /** Secrets that the spec names and that are not there. */
  readonly missing: readonly MissingKey[]
  /** While paused: Secrets that would be written, each in a few words. */
  readonly waiting: readonly string[]
  readonly atMs: number
  /** Changes when something watched calls for another fetch. */
  readonly refetchKey: string
  /** Changes when pods come and go: a pod that starts reads Secrets. */
  readonly podUIDs: string
}

export interface ResourceMemory<F> {
  inputs: FetchedInputs<F> | null
  readonly objects: KnownObjects
  /** Hashes of the Secrets as they were last wanted, by name, which distinguish a change from drift. */
  readonly secretHashes: Map<string, string>
  /** `namespace/name` of the resources that have a key of this one, as the log named them last. */
  keyHolders: string
  /** How claims that asked for more were refused. */
  refusedGrowth: StorageStatement | null
  /** Warnings that are due once they have lasted; those of an operator that ended are lost. */
  readonly pendingWarnings: PendingWarnings
  /** Which operator manages it. */
  management: Management
  /** Who else writes its status. */
  foreignWrites: ForeignWrites
}

/** What is remembered of the objects that were written for a resource. */
export interface KnownObjects {
  /** Those that were as wanted before; a missing one was deleted by others. */
  readonly applied: Set<string>
  readonly answers: Answers
}

/** What is known before anything was written, but for what the status says of it. */
export function nothingKnown(status: Workload['status'] = {}): KnownObjects {
  return { applied: new Set(), answers: noAnswers(status.changedByAdmission) }
}

export interface Memories<F> {
  of(resource: Workload): ResourceMemory<F>
  drop(key: string): void
}

/** A resource that is created again under its name begins with an empty memory. */
export function createMemories<F>(): Memories<F> {
  const memories = new Map<string, { readonly uid: string; readonly memory: ResourceMemory<F> }>()
  return {
    of({ metadata: { namespace, name, uid }, status }) {
      const key = `${namespace}/${name}`
      const known = memories.get(key)
      if (known?.uid === uid) return known.memory
      const memory = {
        inputs: null,
        objects: nothingKnown(status),
        secretHashes: new Map<string, string>(),
        keyHolders: '',
        refusedGrowth: null,
        pendingWarnings: new Map(),
        management: unmanaged,
        foreignWrites: noForeignWrites,
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

/** By type of condition: since when there is a warning that is not recorded yet. */
export type PendingWarnings = Map<string, number>
