/** Volumes of the pods and where the program's container mounts them. */
import type { V1Volume, V1VolumeMount, V1VolumeProjection } from '@kubernetes/client-node'
import type { SecretKeyReference } from '../../api/common-spec.ts'
import type { Generator, Host, Workload } from '../../api.ts'
import { childNames, programOf, viewPartName } from '../names/names.ts'
import {
  configPath,
  keyringPath,
  keysPath,
  secretFiles,
  secretsPath,
  storePath,
  viewsPath,
} from '../names/paths.ts'
import { schemaKeysKey, schemaTokenKey } from '../secrets/schema-secrets.ts'
import type { HostContext } from './context.ts'
import { maxViewParts } from './placed-views.ts'

/** Readable by the owner and by the pod's group, which is 1001. */
const secretMode = 0o440
const tmpSize = '256Mi'

/** A key of a Secret as a file in `secretsPath`. */
export interface SecretFile extends SecretKeyReference {
  readonly file: string
}

/** Secrets of a Generator's container: the node's API key and the keys to its schema. */
export function generatorSecretFiles(generator: Generator): SecretFile[] {
  const { upstream, schemaAuth } = generator.spec
  const ownKeys = { name: childNames(generator).schemaKeys, key: schemaKeysKey }
  return [
    ...secretFile(upstream.auth?.secretRef, secretFiles.nodeApiKey),
    ...secretFile(schemaAuth.keysSecretRef ?? ownKeys, secretFiles.schemaApiKeys),
  ]
}

/** Secrets of a Host's container: a key to its Generator's schema, and the admin token. */
export function hostSecretFiles(
  host: Host,
  { schemaSource }: Pick<HostContext, 'schemaSource'>,
): SecretFile[] {
  const token = { name: childNames(host).schemaKeys, key: schemaTokenKey }
  return [
    ...secretFile(schemaSource === null ? undefined : token, secretFiles.schemaToken),
    ...secretFile(host.spec.registry.adminTokenSecretRef, secretFiles.adminToken),
  ]
}

/** Volumes besides the claims. */
export function volumesOf(resource: Workload, files: readonly SecretFile[]): V1Volume[] {
  const { keyring, config } = childNames(resource)
  return [
    { name: 'keyring', secret: { secretName: keyring, defaultMode: secretMode } },
    { name: 'config', configMap: { name: config } },
    ...(files.length === 0 ? [] : [secretsVolume(files)]),
    ...(resource.kind === 'Host' ? [viewsVolume(resource)] : []),
    { name: 'tmp', emptyDir: { sizeLimit: tmpSize } },
  ]
}

/**
 * Mounts of the program. The keyring is mounted as the file of this replica's ordinal alone, so that
 * no replica sees another's key; a missing key appears as a directory, which the program refuses.
 */
export function mountsOf(resource: Workload, files: readonly SecretFile[]): V1VolumeMount[] {
  return [
    { name: 'keys', mountPath: keysPath },
    { name: 'data', mountPath: storePath(programOf(resource)) },
    { name: 'keyring', mountPath: keyringPath, subPathExpr: '$(POD_INDEX)', readOnly: true },
    { name: 'config', mountPath: configPath, readOnly: true },
    ...(files.length === 0 ? [] : [{ name: 'secrets', mountPath: secretsPath, readOnly: true }]),
    ...(resource.kind === 'Host'
      ? [{ name: viewsName, mountPath: viewsPath, readOnly: true }]
      : []),
    { name: 'tmp', mountPath: '/tmp' },
  ]
}

const viewsName = 'viewmesh-views'

/** All ConfigMaps that there may be, so that no View changes the template. */
function viewsVolume(host: Host): V1Volume {
  const sources = Array.from(
    { length: maxViewParts },
    (_, index): V1VolumeProjection => ({
      configMap: { name: viewPartName(host, index), optional: true },
    }),
  )
  return { name: viewsName, projected: { sources } }
}

function secretFile(reference: SecretKeyReference | undefined, file: string): SecretFile[] {
  return reference === undefined ? [] : [{ ...reference, file }]
}

function secretsVolume(files: readonly SecretFile[]): V1Volume {
  const sources = files.map(
    ({ name, key, file }): V1VolumeProjection => ({
      secret: { name, items: [{ key, path: file }] },
    }),
  )
  return { name: 'secrets', projected: { defaultMode: secretMode, sources } }
}
