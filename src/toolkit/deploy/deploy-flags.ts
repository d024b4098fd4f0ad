/** The flags of `view deploy`, of all targets. */

/** As they were typed. */
export interface DeployFlags {
  readonly target: string
  readonly host?: string
  readonly adminTokenFile?: string
  readonly rpc?: string
  readonly json?: boolean
}
