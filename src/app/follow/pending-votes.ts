/**
 * What accepted Hosts signed of blocks that are not stored yet. A Host has one vote for the rows of a View of a block;
 * none where it signed two results. What it says itself of a height comes before what others pass on of it, so that
 * nobody can hold an old branch that it once signed against what it follows now.
 */
import { keptStatements } from '../../row-votes/kept-statements.ts'
import type { RowStatement } from '../../row-votes/row-statement.ts'
import { countRowVotes } from '../../row-votes/row-votes.ts'
import { mergeExcerpts, type StatementExcerpt } from '../../row-votes/statement-excerpt.ts'

/** Rows that somebody sent. */
interface ClaimedRows {
  readonly view: string
  readonly number: number
  readonly hash: string
  /** Root and number of the rows, as computed here. */
  readonly rowsRoot: string
  readonly count: number
}

/** What accepted Hosts say of rows. */
export interface RowsVerdict {
  /** Identities of those that signed exactly these. */
  readonly agreeing: readonly string[]
  /** Those of them whose own stream said so. */
  readonly direct: readonly string[]
  /** Identities of those that signed other rows of the same View and block. */
  readonly differing: readonly string[]
}

export interface PendingVotes {
  /** Takes in what an accepted Host signed; `isDirect` where its own stream brought it. False where there is no room. */
  add(excerpt: StatementExcerpt, isDirect: boolean): boolean
  /** Whether it holds everything that an excerpt says; then notes that its Host says it itself, where it does. */
  isKnown(excerpt: StatementExcerpt, isDirect: boolean): boolean
  /** A Host says itself that what it signed above a height gave way; null for everything. */
  retract(host: string, above: number | null): void
  /** The hashes of the blocks that Hosts say themselves are at a height. */
  own(number: number): readonly OwnHash[]
  /** Counts these as well as `stored` ones, which were taken out before. */
  evaluate(rows: ClaimedRows, stored: readonly CountedStatement[]): RowsVerdict
  /** Takes the statements about a block out, since it is stored; those about others at its height go. */
  take(number: number, hash: string): readonly StatementExcerpt[]
  /** The highest height of which a Host itself signed rows of a View; -1 for none. */
  highest(host: string, view: string): number
  /** Hosts that signed rows of a View at some of these heights, both included, and do not say that it gave way. */
  signers(view: string, from: number, to: number): readonly string[]
  /** Whether a Host may add what it signed of a further height. */
  hasRoom(host: string): boolean
  forgetBelow(height: number): void
  /** A Host no longer has what is below a height. */
  forgetOf(host: string, below: number): void
}

type CountedStatement = Pick<
  RowStatement,
  'blockHash' | 'root' | 'runtime' | 'signatureIdentity' | 'leaves'
>

interface OwnHash {
  readonly host: string
  readonly hash: string
}

interface HostVotes {
  /** The block that the Host itself says is at this height; null where only others said something. */
  own: string | null
  readonly excerpts: StatementExcerpt[]
}

/** Heights of one Host that wait for their rows: those that others pass on of it are fewer, as blocks that wait are. */
const maxHeights = 8_192
/** Branches and versions of one height that are kept of a Host. */
const maxExcerpts = 4

type Heights = Map<number, HostVotes>

/** An empty book. Rows of other versions of the runtime are counted nowhere. */
export function createPendingVotes({ runtime }: { readonly runtime: number }): PendingVotes {
  const hosts = new Map<string, Heights>()
  const heightsOf = (host: string): Heights => {
    const known = hosts.get(host) ?? new Map()
    hosts.set(host, known)
    return known
  }
  const votesAt = (number: number): [host: string, votes: HostVotes][] =>
    [...hosts].flatMap(([host, heights]): [string, HostVotes][] => {
      const votes = heights.get(number)
      return votes === undefined ? [] : [[host, votes]]
    })

  return {
    add: (excerpt, isDirect) => {
      const heights = heightsOf(excerpt.signatureIdentity)
      const votes = heights.get(excerpt.blockNumber) ?? { own: null, excerpts: [] }
      if (votes.excerpts.length === 0 && heights.size >= maxHeights) return false
      heights.set(excerpt.blockNumber, votes)
      if (isDirect) votes.own = excerpt.blockHash
      keep(votes.excerpts, excerpt)
      return true
    },
    isKnown: (excerpt, isDirect) => {
      const votes = hosts.get(excerpt.signatureIdentity)?.get(excerpt.blockNumber)
      const isKnown = votes?.excerpts.some((each) => says(each, excerpt)) ?? false
      if (votes !== undefined && isKnown && isDirect) votes.own = excerpt.blockHash
      return isKnown
    },
    retract: (host, above) => {
      for (const [number, votes] of hosts.get(host) ?? [])
        if (above === null || number > above) votes.own = null
    },
    own: (number) =>
      votesAt(number).flatMap(([host, { own }]) => (own === null ? [] : [{ host, hash: own }])),
    evaluate: ({ view, number, hash, rowsRoot, count }, stored) => {
      const said = votesAt(number).filter(([, { own }]) => own === null || own === hash)
      const statements = [...said.flatMap(([, { excerpts }]) => excerpts), ...stored]
        .filter((each) => each.blockHash === hash && each.runtime === runtime)
        .map((each) => ({ ...each, leaves: each.leaves.filter((leaf) => leaf.view === view) }))
      const signers = new Set(statements.map(({ signatureIdentity }) => signatureIdentity))
      const [counted] = countRowVotes(statements, signers)
      const same = counted?.votes.find((vote) => vote.rowsRoot === rowsRoot && vote.count === count)
      const others = (counted?.votes ?? []).filter((vote) => vote !== same)
      const agreeing = same?.hosts ?? []
      return {
        agreeing,
        direct: agreeing.filter((host) => hosts.get(host)?.get(number)?.own === hash),
        differing: others.flatMap((vote) => vote.hosts),
      }
    },
    take: (number, hash) => {
      const taken = votesAt(number).flatMap(([, { excerpts }]) => {
        return keptStatements(excerpts.filter((each) => each.blockHash === hash))
      })
      for (const heights of hosts.values()) heights.delete(number)
      return taken
    },
    highest: (host, view) => topOf(hosts.get(host) ?? new Map(), view),
    signers: (view, from, to) =>
      [...hosts].flatMap(([host, heights]) => (hasSigned(heights, view, from, to) ? [host] : [])),
    hasRoom: (host) => (hosts.get(host)?.size ?? 0) < maxHeights,
    forgetOf: (host, below) => forget(hosts.get(host) ?? new Map(), below),
    forgetBelow: (height) => {
      for (const heights of hosts.values()) forget(heights, height)
    },
  }
}

/** Checks what came last first, which is mostly the highest, and no height below one that was found. */
function topOf(heights: Heights, view: string): number {
  let top = -1
  for (const number of [...heights.keys()].reverse()) {
    if (number < top) continue
    const { own = null, excerpts = [] } = heights.get(number) ?? {}
    const isSigned = excerpts.some(
      ({ blockHash, leaves }) => blockHash === own && leaves.some((leaf) => leaf.view === view),
    )
    if (isSigned) top = number
  }
  return top
}

function forget(heights: Heights, below: number): void {
  for (const number of heights.keys()) if (number < below) heights.delete(number)
}

/** Whether rows of a View were signed at some of these heights, in a block that did not give way. */
function hasSigned(heights: Heights, view: string, from: number, to: number): boolean {
  return [...heights].some(
    ([number, { own, excerpts }]) =>
      number >= from &&
      number <= to &&
      excerpts.some(
        ({ blockHash, leaves }) =>
          (own ?? blockHash) === blockHash && leaves.some((leaf) => leaf.view === view),
      ),
  )
}

/** Whether a statement says all that an excerpt says. */
export function says(
  statement: CountedStatement,
  { blockHash, root, runtime, ...excerpt }: StatementExcerpt,
): boolean {
  return (
    statement.blockHash === blockHash &&
    statement.root === root &&
    statement.runtime === runtime &&
    statement.signatureIdentity === excerpt.signatureIdentity &&
    excerpt.leaves.every(({ view }) => statement.leaves.some((leaf) => leaf.view === view))
  )
}

/** Adds an excerpt; of the same statement the leaves are put together, of too many the oldest goes. */
function keep(excerpts: StatementExcerpt[], excerpt: StatementExcerpt): void {
  const index = excerpts.findIndex(
    ({ blockHash, runtime, root }) =>
      blockHash === excerpt.blockHash && runtime === excerpt.runtime && root === excerpt.root,
  )
  const known = excerpts[index]
  if (known !== undefined) excerpts[index] = mergeExcerpts(known, excerpt)
  else excerpts.push(excerpt)
  if (excerpts.length > maxExcerpts) excerpts.shift()
}
