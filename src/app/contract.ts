/** What applications see of `viewmesh/app`: its types alone, which need nothing else of the package. */
import type { Logger } from 'pino'

/** What `openApp` takes. */
export interface AppOptions {
  /** Folder of the store; it is made where it is missing, and belongs to one program at a time. */
  readonly path: string
  /** Long IDs of the Views to follow, 0x and 64 digits; 1 to 64. Rows of Views that are no longer among them are removed. */
  readonly views: readonly string[]
  /** Multiaddrs of Hosts, each with its peer ID, as in `/ip4/203.0.113.7/tcp/9171/p2p/12D3KooW...`; 1 to 16. */
  readonly peers: readonly string[]
  /** Chain and network of the Views. Default `Ethereum__Mainnet`. */
  readonly network?: string
  /**
   * Identities of the Hosts whose word about rows counts: `identity` in their `/health`. By default those that the peers
   * prove to have, each kept from the first time on.
   */
  readonly hosts?: readonly string[]
  /** Identities of the Generators whose seals count as attestations: `identity` in their `/health`. By default nobody's. */
  readonly signers?: readonly string[]
  /** Hosts that have to agree on the rows of a block before they are stored. Default 1. */
  readonly minimumHosts?: number
  /** Attestations that a block must have for its rows to be seen; a query can ask for others. Default 0. */
  readonly minimumAttestations?: number
  /** First height to follow. Default: everything that Hosts have. */
  readonly from?: number
  /** Bytes that the store may use; the rows of the lowest blocks go then. Default 4 GiB, at least 16 MiB. */
  readonly maxBytes?: number
  /** Closes the application when it is aborted. */
  readonly signal?: AbortSignal
  /** Default: nothing is logged. */
  readonly log?: Logger
}

/** An application's own store, and what follows Views into it. */
export interface App {
  /**
   * Asks the store, as a Host is asked: the same GraphQL, with or without a network. The answer says what it lacks.
   * @throws ServiceError `APP_QUERY_REFUSED` for a query that is not valid or takes too much.
   */
  query<Data = unknown, Variables extends object = object>(
    query: TypedQuery<Data, Variables>,
    variables?: Variables,
    options?: QueryOptions,
  ): Promise<QueryAnswer<Data>>
  /**
   * The answers that blocks bring from this call on, in order, one for each block that has rows, also of those that are
   * back-filled. Leaving the loop ends it, as the signal does.
   * @throws ServiceError `APP_QUERY_REFUSED`, also where answers are taken too slowly, or the View is followed no more; what
   *   the store failed of.
   */
  subscribe<Data = unknown, Variables extends object = object>(
    query: TypedQuery<Data, Variables>,
    variables?: Variables,
    options?: Omit<QueryOptions, 'minimumAttestations'>,
  ): Subscribed<Data>
  /**
   * What is proven of a row that a query returned with its `_docID`: which accepted Hosts signed exactly the rows of its
   * block, and which Generators sealed that. Everything is computed and verified again.
   */
  verifyDocument(row: unknown): RowVerdict
  state(): AppState
  /** Calls the listener when something changed, four times a second at most; returns the function that ends it. */
  onChange(listener: (state: AppState) => void): () => void
  /**
   * Resolves when all Views can be queried: at once where they were followed before, else when enough Hosts have said what
   * they look like. Rejects when the signal aborts, or the store fails.
   */
  untilReady(signal?: AbortSignal): Promise<void>
  /** Resolves when all Views have caught up with the Hosts in reach. Rejects when the signal aborts, or the store fails. */
  untilLive(signal?: AbortSignal): Promise<void>
  /** Ends everything; what is stored stays. */
  close(): Promise<void>
}

/** A query as text; one of `viewmesh types` has the types of its answer and its variables with it. */
export type TypedQuery<Data, Variables> = string & {
  readonly __apiType?: (variables: Variables) => Data
}

export interface QueryOptions {
  /** Attestations that a block must have for its rows to be seen. Default: those of `openApp`. */
  readonly minimumAttestations?: number
  /** Which operation of the text runs, where it has several. */
  readonly operationName?: string
  readonly signal?: AbortSignal
}

/** What a subscription finds; it is over when its loop ends. */
export interface Subscribed<Data> extends AsyncIterableIterator<Data> {
  return(): Promise<IteratorResult<Data>>
}

/** An answer. */
export interface QueryAnswer<Data> {
  readonly data: Data
  /** Views of which blocks are missing; empty where nothing is. */
  readonly incomplete: readonly IncompleteAnswer[]
}

/** What an answer lacks of a View. */
export interface IncompleteAnswer {
  /** As it is served. */
  readonly name: string
  /** Blocks whose rows are not stored, above the first whose rows are, up to the highest that is stored of any View. */
  readonly blocksLeft: number
  /** Blocks at which the View failed, or on which Hosts did not agree. */
  readonly blocksFailed: number
  /** Blocks whose rows went for the bytes that the store may use. */
  readonly blocksLost: number
  /** Heights of these, lowest first, at most 100 ranges of each. */
  readonly left: readonly HeightSpan[]
  readonly failed: readonly HeightSpan[]
  readonly lost: readonly HeightSpan[]
  /** Blocks with fewer attestations than the query asks for; left out where there are none. */
  readonly blocksUnattested?: number
  readonly unattested?: readonly HeightSpan[]
}

/** Both ends included. */
interface HeightSpan {
  readonly from: number
  readonly to: number
}

/** How an application stands. */
export interface AppState {
  readonly views: readonly ViewReport[]
  readonly hosts: readonly LinkReport[]
  /** Bytes that the store uses. */
  readonly bytes: number
  /** Why nothing is stored any more, as where the disk is full: close it, and open it again; null while all is well. */
  readonly failure: string | null
}

/** A View as it is here. */
export interface ViewReport {
  /** Its long ID. */
  readonly id: string
  /** Its name in queries; null until enough Hosts said what it looks like. */
  readonly name: string | null
  /** `waiting` for a Host, `catching-up` with it, or `live`. */
  readonly state: 'waiting' | 'catching-up' | 'live'
  /** Heights whose rows are stored, both ends included, lowest first; at most 100 ranges, the highest. */
  readonly done: readonly HeightSpan[]
  /** Rows that are stored. */
  readonly rows: number
  /** What they take in the store, compressed, with their index. */
  readonly bytes: number
  /** The highest block that the Hosts in reach have; null for none. */
  readonly head: number | null
  /** Blocks that wait for the signatures of further Hosts. */
  readonly blocksPending: number
  /** Blocks without rows, since the View failed there or Hosts did not agree. */
  readonly blocksFailed: number
}

/** How a Host stands. */
export interface LinkReport {
  /** Its peer ID. */
  readonly peer: string
  /** Its public key; null before it proved to have it. */
  readonly identity: string | null
  /** `feeds` rows, `votes` on them, or is `away`. */
  readonly role: 'feeds' | 'votes' | 'away'
  /** Its highest block of which there may be rows; null before it said so. */
  readonly head: number | null
  /** How it has the Views, by their long IDs. */
  readonly views: Readonly<Record<string, string>>
  /** Why the last stream ended; null while one is open. */
  readonly error: string | null
}

/** What is proven of a row. */
export type RowVerdict =
  | {
      readonly proves: 'row'
      readonly view: string
      readonly block: { readonly number: number; readonly hash: string }
      /** Accepted Hosts that signed exactly the rows of this block. */
      readonly hosts: readonly string[]
      /** Accepted Generators that sealed the block. */
      readonly signers: readonly string[]
      /** Fields of the row that are among what was signed. */
      readonly fields: readonly string[]
      /** Names in the row whose values nothing proves: aliases, and what is counted here. */
      readonly unproven: readonly string[]
    }
  | { readonly proves: 'nothing'; readonly why: string }
