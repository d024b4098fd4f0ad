/** What the operator reports about a View, field by field. */
import type { ResourceStatus } from './status.ts'

/** How a View stands at one Host. */
export interface ViewHostStatus {
  /** Name of the Host. */
  readonly name: string
  /** The state of the replica that is furthest from live, as GET /api/v0/views shows it; Unknown before one answers. */
  readonly state: string
  /** Replicas that serve it, of the wanted ones, such as 1/2. */
  readonly served: string
  /** Rows of the replica that has fewest. */
  readonly rows?: number
  /** The newest block that every replica which serves it has done. */
  readonly lastBlock?: number
  /**
   * What there is to know about it, such as why it is not served.
   * @maxLength 1024
   */
  readonly message?: string
}

/** A transaction as a Job is to sign it: with the View and the key, nothing else is in it. */
export interface PreparedTransaction {
  /**
   * Its hash.
   * @maxLength 66
   */
  readonly hash: string
  /** Its place among the transactions of the signer. */
  readonly nonce: number
  /**
   * Its limit of gas.
   * @maxLength 32
   */
  readonly gas: string
  /**
   * The most that a unit of gas may cost, in the smallest unit of the coin.
   * @maxLength 32
   */
  readonly maxFeePerGas: string
  /**
   * Of that, at most, for who makes the block.
   * @maxLength 32
   */
  readonly maxPriorityFeePerGas: string
}

/** What is known of the registration of a View. What a Job is to send is here before it is sent. */
export interface ViewRegistrationStatus {
  /** Preparing while a Job asks the chain, Prepared while another one sends what was prepared, then Registered. */
  readonly state: 'Preparing' | 'Prepared' | 'Registered'
  /** Counts the Jobs that a person asked for again, and those that prepared it again. */
  readonly attempt: number
  /**
   * Address of the signer, from which the ID follows; known once it is prepared.
   * @maxLength 42
   */
  readonly creator?: string
  /** The chain ID that is signed for. */
  readonly chainID?: number
  /** The one transaction that registers it; none where the chain knew the View already. */
  readonly transaction?: PreparedTransaction
  /** Block of the registry chain in which it was registered. */
  readonly height?: number
  /**
   * Gas that was used, where this transaction registered it.
   * @maxLength 32
   */
  readonly gasUsed?: string
}

/** What the operator reports about a View. */
export interface ViewStatus extends ResourceStatus {
  /**
   * Its ID: 0x and 64 digits. Registered or posted to a Host by hand, the same bytes of the same sender have the same one.
   * @maxLength 66
   */
  readonly viewID?: string
  /**
   * Its ID on the registry chain: 0x and 40 digits.
   * @maxLength 42
   */
  readonly address?: string
  /**
   * The type of its rows, and its name in GraphQL where no other View has that.
   * @maxLength 256
   */
  readonly type?: string
  /** What is known of its registration, where spec.registration wants one. */
  readonly registration?: ViewRegistrationStatus
  /** The state that is furthest from live, of all selected Hosts. */
  readonly state?: string
  /** Replicas that serve it, of all that selected Hosts want, such as 3/4. */
  readonly served?: string
  /** Rows of the replica that has fewest. */
  readonly rows?: number
  /** The newest block that every replica which serves it has done. */
  readonly lastBlock?: number
  /**
   * How it stands at each selected Host. The first 64.
   * @listMapKey name
   * @maxItems 64
   */
  readonly hosts?: readonly ViewHostStatus[]
}
