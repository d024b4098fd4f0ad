/**
 * What the templates of mode=standalone begin with: each object and each setting that values may ask for, as the
 * operator's builders make them. The templates set what values change and leave out what values do not ask for.
 */
import { stringify } from 'yaml'
import { records } from '../../operator/api/annotations.ts'
import type { Generator, Host } from '../../operator/api.ts'
import { generatorObjects } from '../../operator/resources/generator-objects.ts'
import { hostObjects } from '../../operator/resources/host-objects.ts'
import type { ChildObject } from '../../operator/resources/objects/child-object.ts'
import type { BuildContext } from '../../operator/resources/pod/context.ts'
import { noPlacedViews } from '../../operator/resources/pod/placed-views.ts'
import { readSchema } from '../support/resources/crd-schema.ts'
import { withDefaults } from '../support/resources/schema-defaults.ts'

/** No name of Kubernetes has angle brackets; the templates replace the two in the text of the file. */
const metadata = { name: '<name>', namespace: '<namespace>' }
const keyring = { secretRef: { name: '<secret>' } }
const key = { name: '<secret>', key: '<key>' }

/** The smallest spec that makes everything a Generator may have without the operator. */
const generatorSpec = {
  upstream: {
    podSelector: { matchLabels: { '<label>': '<value>' }, wsPort: 8546 },
    auth: { secretRef: key },
  },
  chain: { name: 'Ethereum', network: 'Mainnet', id: 1 },
  start: { height: 0 },
  identity: keyring,
  schemaAuth: { keysSecretRef: key },
  p2p: { service: { type: 'LoadBalancer' } },
}

/** The same of a Host. */
const hostSpec = {
  replicas: 2,
  identity: keyring,
  registry: { rpcUrl: 'ws://registry', lcdUrl: 'http://registry', adminTokenSecretRef: key },
  trustedSigners: ['<identity>'],
  readiness: { minBlocks: 1, maxLag: 1 },
  services: { p2p: { type: 'LoadBalancer' } },
}

const context: BuildContext = {
  clusterDomain: '<domain>',
  defaults: {
    images: { generator: '<image>', host: '<image>' },
    toolkitImage: null,
    generatorPriorityClass: null,
    imagePullSecrets: [],
    generateNetworkPolicy: true,
    generatePodDisruptionBudget: true,
  },
  announce: [],
  publicHealth: new Map(),
  peerIDs: new Map(),
  recorded: null,
  recordedSignersFile: null,
}

/** The text of `files/objects.yaml` in a chart: a map of objects by what they are. */
export function chartObjects(kind: 'Generator' | 'Host'): string {
  const named = objectsOf(kind).map((object) => [keyOf(kind, object), plain(object)] as const)
  const head = `# Made from operator/resources: what a standalone ${kind} consists of, before values are set in it.\n`
  return head + toYaml(Object.fromEntries(named))
}

/** For Helm, which reads YAML 1.1, where `yes` without quotes is true. */
export function toYaml(value: object): string {
  return stringify(value, { version: '1.1', aliasDuplicateObjects: false, lineWidth: 0 })
}

function objectsOf(kind: 'Generator' | 'Host'): readonly ChildObject[] {
  if (kind === 'Generator') {
    const generator = stored<Generator>(kind, generatorSpec)
    const executionNode = { namespace: '<namespace>', labels: { '<label>': '<value>' } }
    return generatorObjects(generator, { ...context, executionNode }).objects
  }
  const host = stored<Host>(kind, hostSpec)
  const none = { peers: [], signers: [], schemaSource: null, views: noPlacedViews }
  const { objects } = hostObjects(host, { ...context, ...none })
  return objects.filter((object) => !object.metadata?.name?.endsWith('-p2p-1'))
}

/** A resource as the API server would hold it. */
function stored<T extends Generator | Host>(kind: T['kind'], spec: object): T {
  const manifest = { apiVersion: '', kind, metadata: { ...metadata, uid: '', generation: 1 }, spec }
  return withDefaults(readSchema(kind), manifest) as T
}

/** Its kind; of a Service what it is for. */
function keyOf(program: 'Generator' | 'Host', { kind = '', metadata: own }: ChildObject): string {
  if (kind !== 'Service') return `${kind.slice(0, 1).toLowerCase()}${kind.slice(1)}`
  const base = `${metadata.name}-${program.toLowerCase()}`
  const purpose = own?.name?.slice(base.length + 1).replace(/-0$/, '') || 'api'
  return `${purpose}Service`
}

/** Without an owner and the records of the operator, which there is none of. */
function plain(object: ChildObject): object {
  const { ownerReferences: _, annotations = {}, ...rest } = object.metadata ?? {}
  const ours: readonly string[] = Object.values(records)
  const shown = Object.entries(annotations).filter(([name]) => !ours.includes(name))
  const kept = shown.length === 0 ? {} : { annotations: Object.fromEntries(shown) }
  return { ...object, metadata: { ...rest, ...kept } }
}
