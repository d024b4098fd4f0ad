/** What the tabs of the playground hold at a first visit. */

export interface PlaygroundTab {
  readonly query: string
}

/** A View that is served. */
interface TabView {
  readonly name: string
  readonly fields: readonly string[]
}

/** Each shows something on any chain. */
export const defaultTabs: readonly PlaygroundTab[] = [
  {
    query: `# The newest blocks and their first transactions.
# Ctrl-Enter runs it, Ctrl-Space completes words,
# the book on the left shows all there is.
query NewestBlocks {
  Block(limit: 5, order: {number: DESC}) {
    number
    hash
    timestamp(format: DECIMAL)
    COUNT(transactions: {})
    transactions(limit: 3) {
      transactionIndex
      from
      to
      value(format: DECIMAL)
    }
  }
}`,
  },
  {
    query: `# The newest logs, each with its transaction.
# filter: {address: {_eq: "0x..."}} picks a
# contract's, {topics: {_any: {_eq: "0x..."}}}
# those of an event.
query NewestLogs {
  Log(limit: 20, order: [{blockNumber: DESC}, {logIndex: DESC}]) {
    blockNumber
    logIndex
    address
    topics
    data
    transaction {
      hash
      from
    }
  }
}`,
  },
  {
    query: `# Each new block as it arrives.
subscription FollowBlocks {
  Block {
    number
    hash
    COUNT(transactions: {})
  }
}`,
  },
]

/** Views with a tab of their own: those after them are in the book of the playground. */
const maxViewTabs = 3

/** The newest rows of the first Views. */
export function viewTabs(views: readonly TabView[]): PlaygroundTab[] {
  return views.slice(0, maxViewTabs).map(({ name, fields }) => ({
    query: `# The newest rows of a View.
query Newest${name} {
  ${name}(limit: 20, order: {_blockNumber: DESC}) {
${['_blockNumber', ...fields].map((field) => `    ${field}`).join('\n')}
  }
}`,
  }))
}
