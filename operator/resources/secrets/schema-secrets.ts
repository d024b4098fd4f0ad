/** Secrets with keys to a Generator's schema: the Generator's own, and the copy a Host is handed. */
import type { V1Secret } from '@kubernetes/client-node'
import { records } from '../../api/annotations.ts'
import type { Generator, Host } from '../../api.ts'
import { childMetadata } from '../names/metadata.ts'
import { childNames } from '../names/names.ts'
import { opaqueSecret } from '../names/secret.ts'

/** Key of a Generator's Secret: its schema keys, with commas between. */
export const schemaKeysKey = 'keys'
/** Key of the same Secret: which of them is the one from before, until it goes. */
export const formerSchemaKey = 'former'
/** Key of a Host's Secret: the one schema key it was handed. */
export const schemaTokenKey = 'token'

interface GeneratedKeys {
  readonly keys: readonly string[]
  /** The time where the Generator had others before, which distinguishes its pod from those. */
  readonly renewed?: string | null
  /** One of the keys, that is to go. */
  readonly former?: string | undefined
}

/** The keys a Generator takes. */
export function schemaKeysSecret(
  generator: Generator,
  { keys, renewed = null, former }: GeneratedKeys,
): V1Secret {
  const annotations = renewed === null ? {} : { [records.schemaKeysRenewed]: renewed }
  const metadata = childMetadata(generator, childNames(generator).schemaKeys, { annotations })
  return opaqueSecret(metadata, {
    [schemaKeysKey]: keys.join(','),
    ...(former === undefined ? {} : { [formerSchemaKey]: former }),
  })
}

/** The key a Host sends to its Generator. */
export function schemaTokenSecret(host: Host, token: string): V1Secret {
  const metadata = childMetadata(host, childNames(host).schemaKeys)
  return opaqueSecret(metadata, { [schemaTokenKey]: token })
}

/** The keys of a list with commas between. */
export function listedSchemaKeys(keys: string): readonly string[] {
  return keys
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '')
}
