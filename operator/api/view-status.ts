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
