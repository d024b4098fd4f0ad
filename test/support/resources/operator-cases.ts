/** Resources of every shape with what the operator makes of them: `test/fixtures/operator/objects`. */
import { readFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import type { Generator, Host } from '../../../operator/api.ts'
import { generatorObjects } from '../../../operator/resources/generator-objects.ts'
import { hostObjects } from '../../../operator/resources/host-objects.ts'
import { registrationJob } from '../../../operator/resources/objects/registration-job.ts'
import type { GeneratorContext, HostContext } from '../../../operator/resources/pod/context.ts'
import { noPlacedViews } from '../../../operator/resources/pod/placed-views.ts'
import {
  generatorConnectionSecret,
  hostConnectionSecret,
} from '../../../operator/resources/secrets/connection-secret.ts'
import { keyringSecret } from '../../../operator/resources/secrets/keyring-secret.ts'
import {
  schemaKeysSecret,
  schemaTokenSecret,
} from '../../../operator/resources/secrets/schema-secrets.ts'
import { repository } from '../repository.ts'
import { readSchema } from './crd-schema.ts'
import { withDefaults } from './schema-defaults.ts'
import { plainDefinition, registration, viewWith } from './view-cases.ts'

export const peerID = '12D3KooWPjceQrSwdWXPyLLeABRXmuqt69Rg3sBYbU1Nft9HyQ6X'
/** What a Generator signs with. */
export const identity = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
const folder = `${repository}/test/fixtures/operator/objects`
/** A resource before defaults are filled in. */
interface Manifest {
  readonly spec: object
}

/** What every context shares. */
const common = {
  clusterDomain: 'cluster.local',
  defaults: {
    images: {
      generator: 'registry.example.org/viewmesh/generator:0.1.0',
      host: 'registry.example.org/viewmesh/host:0.1.0',
    },
    toolkitImage: 'registry.example.org/viewmesh/toolkit:0.1.0',
    generatorPriorityClass: null,
    imagePullSecrets: [],
    generateNetworkPolicy: true,
    generatePodDisruptionBudget: true,
  },
  announce: [],
  publicHealth: new Map<number, number>(),
  peerIDs: new Map<number, string>(),
  recorded: null,
  recordedSignersFile: null,
} as const

export const generatorContext: GeneratorContext = {
  ...common,
  executionNode: { namespace: 'validators', labels: { app: 'geth' } },
}

export const hostContext: HostContext = {
  ...common,
  peers: [],
  signers: [],
  schemaSource: null,
  views: noPlacedViews,
}

/** Cases of Generators, each with its context. */
export const generatorCases: Readonly<Record<string, GeneratorContext>> = {
  'generator-minimal': generatorContext,
  'generator-full': {
    ...generatorContext,
    defaults: { ...common.defaults, generatorPriorityClass: 'viewmesh-generator' },
    executionNode: { namespace: 'nodes', labels: { app: 'nethermind', network: 'sepolia' } },
    announce: [['/ip4/203.0.113.7/tcp/9171']],
  },
  'generator-url': { ...generatorContext, executionNode: null },
  'generator-pods': {
    ...generatorContext,
    executionNode: { namespace: 'dev', labels: { app: 'anvil' } },
  },
}

/** Cases of Hosts, each with its context. */
export const hostCases: Readonly<Record<string, HostContext>> = {
  'host-minimal': hostContext,
  'host-full': {
    ...hostContext,
    defaults: { ...common.defaults, imagePullSecrets: ['pull'] },
    announce: [['/ip4/203.0.113.10/tcp/9171'], ['/ip4/203.0.113.11/tcp/9171']],
    peers: [`/dns4/sepolia-generator-nodes.validators.svc.cluster.local/tcp/9171/p2p/${peerID}`],
    signers: [{ generator: 'validators/sepolia', identity }],
    schemaSource: { name: 'sepolia', namespace: 'validators' },
  },
}

const uid = '00000000-0000-4000-8000-000000000001'

/** A resource as the API server would hold it. */
function storedResource<T extends Generator | Host>(kind: T['kind'], manifest: object): T {
  const filled = withDefaults(readSchema(kind), manifest) as T
  const metadata = { uid, generation: 1 }
  return { ...filled, metadata: { ...metadata, ...filled.metadata } }
}

export function readGenerator(name: string): Generator {
  return storedResource<Generator>('Generator', readManifest(name))
}

export function readHost(name: string): Host {
  return storedResource<Host>('Host', readManifest(name))
}

/** Everything that is made for a Generator, with made-up secrets, as YAML documents. */
export function renderGenerator(name: string): string {
  const generator = readGenerator(name)
  const context = generatorCases[name] ?? generatorContext
  const peers = [`/dns4/gen.example.org/tcp/9171/p2p/${peerID}`]
  return render([
    keyringSecret(generator, new Map([[0, 'secret of the keyring']])),
    schemaKeysSecret(generator, { keys: ['schema key'] }),
    generatorConnectionSecret(
      generator,
      { clusterDomain: 'cluster.local', peers },
      { key: 'schema key', waits: null },
    ),
    ...generatorObjects(generator, context).objects,
  ])
}

/** Everything that is made for a Host, with made-up secrets, as YAML documents. */
export function renderHost(name: string): string {
  const host = readHost(name)
  const ordinals = Array.from({ length: host.spec.replicas }, (_, ordinal) => ordinal)
  return render([
    keyringSecret(host, new Map(ordinals.map((ordinal) => [ordinal, `secret of ${ordinal}`]))),
    schemaTokenSecret(host, 'schema key'),
    hostConnectionSecret(host, { clusterDomain: 'cluster.local', peers: [] }),
    ...hostObjects(host, hostCases[name] ?? hostContext).objects,
  ])
}

/** The case of a View that is registered: its two Jobs. */
export const registrationCase = 'view-registration'

/** Both Jobs of that View, as YAML documents. */
export function renderRegistration(): string {
  const found = viewWith('transfers', { definition: plainDefinition, registration }, 'apps')
  const { toolkitImage: image } = common.defaults
  const parts = { registration, file: `0x${'1'.repeat(64)}.view`, attempt: 0, image }
  const steps = [{ step: 'prepare' }, { step: 'register', terms: '{"kind":"terms"}' }] as const
  const view = { ...found, metadata: { ...found.metadata, uid } }
  return render(
    steps.map((step) => registrationJob(view, step, { ...parts, pullSecrets: ['pull'] })),
  )
}

/** The file with what a case should come to. */
export function objectsFile(name: string): string {
  return `${folder}/${name}/objects.yaml`
}

/** What a user wrote. */
export function readManifest(name: string): Manifest {
  return parse(readFileSync(`${folder}/${name}/resource.yaml`, 'utf8'))
}

function render(objects: readonly object[]): string {
  return objects
    .map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }))
    .join('---\n')
}
