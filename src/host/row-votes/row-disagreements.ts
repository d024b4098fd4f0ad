/**
 * Compares what accepted Hosts signed of rows with what this Host signed, over the newest blocks, and names those that
 * differ. A block is read again only where statements about it came or went.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import { countRowVotes } from '../../row-votes/row-votes.ts'
import type { FailureReport } from '../../service/contract.ts'
import type { Snapshot, StoreReader } from '../../store/store.ts'
import { declareRowsDiffer } from './metrics.ts'

interface DisagreementOptions {
  /** The identity of this Host. */
  readonly own: string
  /** Default ten seconds. */
  readonly intervalMs?: number
}

interface DisagreementParts {
  readonly reader: Pick<StoreReader, 'read'>
  readonly registry: Registry
  /** Identities of the accepted Hosts. */
  readonly hosts: () => readonly string[]
  /** How a View is served here; null where it is not. */
  readonly nameOf: (view: string) => string | null
  /** Called when the store cannot be read. */
  readonly onFatal: (error: unknown) => void
}

/** That a Host signed other rows of a View than this one, or two results. */
interface Difference {
  readonly host: string
  readonly view: string
}

/** The same over many blocks. */
interface Disagreement extends Difference {
  /** The newest of the blocks. */
  readonly height: number
  readonly blocks: number
}

export interface RowDisagreements {
  /** What an operator should check: one failure for each Host. */
  failures(): readonly FailureReport[]
  close(): void
}

/** Heights that are compared, the newest ones: as many as Hosts compare with each other every minute. */
const comparedHeights = 1_024
/** Heights that are read before others get the thread. */
const heightsAtOnce = 64
/** Pairs of Hosts and Views that are shown. */
const maxShown = 100

interface State {
  readonly options: DisagreementOptions
  readonly parts: DisagreementParts
  /** What was found at each height, and what it was found from. */
  readonly known: Map<number, { readonly of: string; readonly found: readonly Difference[] }>
  shown: readonly Disagreement[]
  isComparing: boolean
  isClosed: boolean
}

/** Compares at once, and then from time to time. */
export function openRowDisagreements(
  options: DisagreementOptions,
  parts: DisagreementParts,
): RowDisagreements {
  const state: State = {
    options,
    parts,
    known: new Map(),
    shown: [],
    isComparing: false,
    isClosed: false,
  }
  declareRowsDiffer(parts.registry, () => state.shown)
  void compare(state)
  const timer = setInterval(() => void compare(state), options.intervalMs ?? 10_000).unref()
  return {
    failures: () => toFailures(state),
    close: () => {
      state.isClosed = true
      clearInterval(timer)
    },
  }
}

async function compare(state: State): Promise<void> {
  if (state.isComparing || state.isClosed) return
  state.isComparing = true
  try {
    await compareAll(state)
  } catch (error) {
    if (!state.isClosed) state.parts.onFatal(error)
  }
  state.isComparing = false
}

async function compareAll(state: State): Promise<void> {
  const { reader, hosts } = state.parts
  const range = reader.read(({ rowBlocks }) => rowBlocks.range())
  const to = range?.head ?? -1
  const from = Math.max(range?.tail ?? 0, to - comparedHeights + 1)
  const voters = new Set([state.options.own, ...hosts()])
  for (let at = from; at <= to; at += heightsAtOnce) {
    const last = Math.min(to, at + heightsAtOnce - 1)
    reader.read((snapshot) => {
      for (let height = at; height <= last; height++) compareBlock(state, snapshot, height, voters)
    })
    await nextTurn()
    if (state.isClosed) return
  }
  for (const height of state.known.keys()) {
    if (height < from || height > to) state.known.delete(height)
  }
  state.shown = summarise(state)
}

function compareBlock(
  { known, options }: State,
  snapshot: Snapshot,
  height: number,
  voters: ReadonlySet<string>,
): void {
  const hash = snapshot.rowBlocks.header(height)?.hash
  const places = [...snapshot.rowStatementPlaces(height, height)].filter(
    ({ blockHash, signatureIdentity }) => blockHash === hash && voters.has(signatureIdentity),
  )
  const signed = places.map((place) => `${place.signatureIdentity} ${place.runtime} ${place.root}`)
  const of = `${hash} ${signed.join()}`
  if (known.get(height)?.of === of) return
  const isSame = new Set(places.map(({ runtime, root }) => `${runtime} ${root}`)).size < 2
  known.set(height, {
    of,
    found: isSame ? [] : differences(snapshot, height, hash, options.own, voters),
  })
}

function differences(
  snapshot: Snapshot,
  height: number,
  hash: string | undefined,
  own: string,
  voters: ReadonlySet<string>,
): Difference[] {
  const statements = snapshot.rowStatements(height).filter(({ blockHash }) => blockHash === hash)
  return countRowVotes(statements, voters).flatMap(({ view, votes, contradicting }) => {
    if (!votes.some(({ hosts }) => hosts.includes(own))) return []
    const others = votes.filter(({ hosts }) => !hosts.includes(own)).flatMap(({ hosts }) => hosts)
    return [...others, ...contradicting].map((host) => ({ host, view }))
  })
}

function summarise({ known, parts: { nameOf } }: State): readonly Disagreement[] {
  const found = new Map<string, Disagreement>()
  for (const [height, { found: differing }] of known) {
    for (const { host, view } of differing) {
      const key = `${host} ${view}`
      const before = found.get(key)
      if (before === undefined && (found.size === maxShown || nameOf(view) === null)) continue
      const newest = Math.max(height, before?.height ?? height)
      found.set(key, { host, view, height: newest, blocks: (before?.blocks ?? 0) + 1 })
    }
  }
  return [...found.values()].sort((a, b) => b.height - a.height)
}

function toFailures({ shown, parts: { nameOf } }: State): FailureReport[] {
  return [...Map.groupBy(shown, ({ host }) => host)].flatMap(([host, [newest, ...more]]) => {
    if (newest === undefined) return []
    const { view, height, blocks } = newest
    const others = more.length === 0 ? '' : `, and of ${more.length} more Views`
    const where = `of ${blocks} of the newest ${comparedHeights} blocks, last of block ${height}`
    return {
      code: 'HOST_ROWS_DIFFER' as const,
      message: `The Host ${host} signed other rows of the View ${nameOf(view) ?? view} than this one: ${where}${others}.`,
      remedy:
        'Query AttestationRecord_<View> for how many Hosts signed which rows, and compare the versions of both Hosts. Where this one stands alone, delete the View and post it again, so that its rows are computed again; else take the other Host off HOST_TRUSTED_HOSTS until its operator has mended it.',
    }
  })
}
