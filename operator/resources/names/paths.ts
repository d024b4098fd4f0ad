/** Where things are inside the containers. */
import { homeDirectory, type ProgramName } from '../../../src/service/contract.ts'

/** Home of the user that the images run as. */
const home = '/app'

export const keysPath: string = `${home}/${homeDirectory}/keys`
/** The replica's own keyring key, mounted as a single file. */
export const keyringPath = '/run/viewmesh/keyring'
/** Other secrets, a file each. */
export const secretsPath = '/run/viewmesh/secrets'
/** The ConfigMap with addresses, mounted whole because single files are not updated. */
export const configPath = '/etc/viewmesh'

/** The ConfigMaps with Views, mounted whole as one folder. */
export const viewsPath = '/run/viewmesh/views'

export function storePath(program: ProgramName): string {
  return `${home}/${homeDirectory}/${program}`
}

/** Names of the files in `secretsPath`. */
export const secretFiles = {
  nodeApiKey: 'node-api-key',
  schemaApiKeys: 'schema-api-keys',
  schemaToken: 'schema-token',
  adminToken: 'admin-token',
} as const

/** Keys of the ConfigMap, files in `configPath`. */
export const bootstrapPeersKey = 'bootstrap-peers'
export const trustedSignersKey = 'trusted-signers'
export const siblingsKey = 'siblings'
export function announceKey(ordinal: number | string): string {
  return `announce-${ordinal}`
}
