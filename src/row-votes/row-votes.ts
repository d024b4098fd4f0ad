/**
 * Counts which Hosts agree on the rows of a View of a block. Statements are a set: neither their order nor one that comes
 * again makes a difference, and a Host has one vote however many statements it signed.
 */
import type { RowStatement } from './row-statement.ts'
import type { ViewLeaf } from './view-leaf.ts'

/** Rows that at least one accepted Host has of a View of a block. */
export interface RowVote extends Pick<ViewLeaf, 'rowsRoot' | 'count'> {
  /** Identities of the Hosts, in their order; of each one no other rows are known. */
  readonly hosts: readonly string[]
}

/** What accepted Hosts say of one View of a block, made by one version of the runtime. */
export interface RowVotes extends Pick<ViewLeaf, 'view'> {
  readonly blockHash: string
  readonly runtime: number
  /** Those with most Hosts first; of as many the smaller root. */
  readonly votes: readonly RowVote[]
  /** Accepted Hosts that signed different rows, and so have no vote. */
  readonly contradicting: readonly string[]
}

type CountedStatement = Pick<RowStatement, 'blockHash' | 'runtime' | 'leaves' | 'signatureIdentity'>

/** The rows that each Host signed: the root and the count together, as one without the other says less. */
interface Subject extends Pick<RowVotes, 'view' | 'blockHash' | 'runtime'> {
  readonly signed: Map<string, Map<string, Pick<ViewLeaf, 'rowsRoot' | 'count'>>>
}

/** The votes of statements whose signatures were verified; those of other Hosts than `accepted` count nowhere. */
export function countRowVotes(
  statements: Iterable<CountedStatement>,
  accepted: ReadonlySet<string>,
): RowVotes[] {
  const subjects = new Map<string, Subject>()
  for (const { blockHash, runtime, leaves, signatureIdentity: host } of statements) {
    if (!accepted.has(host)) continue
    for (const { view, rowsRoot, count } of leaves) {
      const name = `${view} ${blockHash} ${runtime}`
      const subject = subjects.get(name) ?? { view, blockHash, runtime, signed: new Map() }
      subjects.set(name, subject)
      const own = subject.signed.get(host) ?? new Map()
      subject.signed.set(host, own.set(`${rowsRoot} ${count}`, { rowsRoot, count }))
    }
  }
  return [...subjects.entries()].sort(byKey).map(([, subject]) => toVotes(subject))
}

function toVotes({ signed, ...subject }: Subject): RowVotes {
  const votes = new Map<string, RowVote & { hosts: string[] }>()
  const contradicting: string[] = []
  for (const [host, own] of [...signed].sort(byKey)) {
    if (own.size > 1) {
      contradicting.push(host)
      continue
    }
    for (const [key, rows] of own) {
      const vote = votes.get(key) ?? { ...rows, hosts: [] }
      vote.hosts.push(host)
      votes.set(key, vote)
    }
  }
  const sorted = [...votes].sort(byKey).map(([, vote]) => vote)
  return {
    ...subject,
    votes: sorted.sort((a, b) => b.hosts.length - a.hosts.length),
    contradicting,
  }
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
