/** Secrets with keys to a Generator's schema: the Generator's own, and the copy a Host is handed. */
import type { V1Secret } from '@kubernetes/client-node'
import { records } from '../../api/annotations.ts'
import type { Generator, Host } from '../../api.ts'
import { childMetadata } from '../names/metadata.ts'
import { childNames } from '../names/names.ts'
import { opaqueSecret } from '../names/secret.ts'

/** Key of a Generator's Secret: its schema keys, with commas between. */
export const schemaKeysKey = 'keys'
/** Key of a Host's Secret: the one schema key it was handed. */
export const schemaTokenKey = 'token'

/**
 * The keys a Generator takes; generated once, then only read. `renewed` is the time where the Generator
 * had others before, which distinguishes its pod from those.
 */
export function schemaKeysSecret(
  generator: Generator,
  keys: readonly string[],
  renewed: string | null = null,
): V1Secret {
  const annotations = renewed === null ? {} : { [records.schemaKeysRenewed]: renewed }
  const metadata = childMetadata(generator, childNames(generator).schemaKeys, { annotations })
  return opaqueSecret(metadata, { [schemaKeysKey]: keys.join(',') })
}

/** The key a Host sends to its Generator. */
export function schemaTokenSecret(host: Host, token: string): V1Secret {
  const metadata = childMetadata(host, childNames(host).schemaKeys)
  return opaqueSecret(metadata, { [schemaTokenKey]: token })
}

/** The key that Hosts are handed: the first of a list with commas between. */
export function firstSchemaKey(keys: string): string | undefined {
  return keys
    .split(',')
    .map((key) => key.trim())
    .find((key) => key !== '')
}
