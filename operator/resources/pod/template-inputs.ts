/**
 * What a pod template is built from, as a hash. It says whether a user asked for something else; the
 * operator's own version and defaults are no part of it.
 *
 * The hash is compared with one that an older operator wrote. A field that is added here later must be
 * left undefined while it has its default, or every pod in the cluster is replaced by the upgrade.
 */
import { requests } from '../../api/annotations.ts'
import type { Generator, Host, Workload } from '../../api.ts'
import { canonicalJson, shortHash } from '../names/canonical-json.ts'
import { namesGenerators } from '../names/names.ts'
import { colocationOf } from './affinity.ts'
import type { GeneratorContext, HostContext } from './context.ts'

/** Hash for a Generator. */
export function generatorTemplateInputs(
  generator: Generator,
  {
    clusterDomain,
    executionNode,
    schemaKeysRenewed,
  }: Pick<GeneratorContext, 'clusterDomain' | 'executionNode' | 'schemaKeysRenewed'>,
): string {
  const { chain, upstream, start, schemaAuth } = generator.spec
  const { url, service, podSelector, auth } = upstream
  return hashOf({
    ...commonInputs(generator),
    chainID: chain.id,
    clusterDomain,
    executionNode:
      colocationOf(generator) === 'None'
        ? null
        : executionNode && { namespace: executionNode.namespace, labels: executionNode.labels },
    url: url && { http: url.http, ws: url.ws },
    service: service && {
      name: service.name,
      namespace: service.namespace,
      httpPort: service.httpPort,
      wsPort: service.wsPort,
      colocate: service.colocate,
    },
    podSelector: podSelector && {
      httpPort: podSelector.httpPort,
      wsPort: podSelector.wsPort,
      colocate: podSelector.colocate,
    },
    auth: auth && { secret: auth.secretRef.name, key: auth.secretRef.key, header: auth.header },
    start: start && { height: start.height, behindHead: start.behindHead },
    schemaKeys: schemaAuth.keysSecretRef && {
      secret: schemaAuth.keysSecretRef.name,
      key: schemaAuth.keysSecretRef.key,
    },
    schemaKeysRenewed: schemaKeysRenewed ?? undefined,
  })
}

/**
 * Hash for a Host. The file of signers is part of it but where an older operator, which knew of none, made the
 * template of a Host that names Generators: such pods get it with their next change.
 */
export function hostTemplateInputs(
  host: Host,
  {
    clusterDomain,
    schemaSource,
    recorded,
    recordedSignersFile,
  }: Pick<HostContext, 'clusterDomain' | 'schemaSource' | 'recorded' | 'recordedSignersFile'>,
): string {
  const inputs = hostInputs(host, { clusterDomain, schemaSource })
  const former = hashOf(inputs)
  if (recordedSignersFile === null && recorded?.inputs === former) return former
  return hashOf({ ...inputs, signersFile: namesGenerators(host) || undefined })
}

function hostInputs(
  host: Host,
  { clusterDomain, schemaSource }: Pick<HostContext, 'clusterDomain' | 'schemaSource'>,
): object {
  const { registry, readiness, trustedSigners } = host.spec
  const { minBlocks, maxLag } = readiness ?? {}
  const { rpcUrl, lcdUrl, adminTokenSecretRef } = registry
  return {
    ...commonInputs(host),
    clusterDomain: schemaSource === null ? undefined : clusterDomain,
    schemaSource: schemaSource ?? undefined,
    registry: { rpcUrl, lcdUrl },
    adminToken: adminTokenSecretRef && {
      secret: adminTokenSecretRef.name,
      key: adminTokenSecretRef.key,
    },
    trustedSigners,
    readiness: minBlocks === undefined && maxLag === undefined ? undefined : { minBlocks, maxLag },
  }
}

function commonInputs(resource: Workload): object {
  const { chain, image, pruning, identity, podTemplate } = resource.spec
  return {
    chain: { name: chain.name, network: chain.network },
    image: {
      repository: image.repository || undefined,
      tag: image.tag || undefined,
      digest: image.digest || undefined,
      pullPolicy: image.pullPolicy,
    },
    pruning: { enabled: pruning.enabled, maxBlocks: pruning.maxBlocks },
    keyring: identity.secretRef?.name,
    podTemplate,
    rollAt: resource.metadata.annotations?.[requests.rollAt],
  }
}

function hashOf(inputs: object): string {
  return shortHash(canonicalJson(inputs))
}
