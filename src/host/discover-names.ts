/** Finds out at the start which chain a Host is of, and keeps its schema compared with its Generator's from then on. */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Running } from '../service/run.ts'
import type { LoadedSettings } from '../service/settings/settings.ts'
import { hasStore } from '../store/disk/store-directory.ts'
import type { HostSettings } from './config.ts'
import { type ChainNames, decideNames } from './network.ts'
import { openSchemaSync, type SchemaSync } from './schema/schema-sync.ts'
import type { HostStatusReporter } from './status.ts'

interface DiscoveryParts {
  readonly log: Logger
  readonly running: Pick<Running, 'own' | 'signal'>
  readonly status: Pick<HostStatusReporter, 'report' | 'setWaiting'>
  readonly registry: Registry
}

/**
 * Where only its Generator knows, and nothing is stored yet, the Host waits for that one: a store keeps the name that it
 * was made with.
 */
export async function discoverNames(
  { settings, origins, secretFiles }: LoadedSettings<HostSettings>,
  { log, running, status, registry }: DiscoveryParts,
): Promise<{ readonly names: ChainNames; readonly schema: SchemaSync }> {
  const { schemaUrl: url, schemaAuthToken: token, storePath } = settings
  const schema = await openSchemaSync(
    { source: url === null ? null : { url, token }, tokenFile: secretFiles.schemaAuthToken },
    { log, registry, signal: running.signal },
  )
  running.own('schema', schema)
  status.report({ schema })
  const names = decideNames(settings, origins, schema.fetchedNetwork())
  if (!names.isGuess || url === null || hasStore(storePath)) return { names, schema }
  log.warn({ url }, 'waits for the Generator to say which chain this is')
  status.setWaiting(true)
  const fetched = await schema.awaitNetwork()
  status.setWaiting(false)
  return { names: decideNames(settings, origins, fetched), schema }
}
