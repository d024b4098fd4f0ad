/**
 * The Kubernetes API of Viewmesh: the resources people write. These types are the whole of it. The
 * CRDs in `crds/` are made from them by `npm run generate`: the comments become the descriptions, and
 * their tags (`@default`, `@maxItems`, `@rule` with `@message`, ...) what the API server fills in
 * and refuses; `operator/crd/schema.ts` lists the tags.
 *
 * A field without `?` is always there once the API server has filled in the defaults, so what reads
 * a resource from the cluster needs no defaults of its own.
 */
import type { GeneratorSpec } from './api/generator-spec.ts'
import type { HostSpec } from './api/host-spec.ts'
import type { GeneratorStatus, HostStatus } from './api/status.ts'
import type { ViewSpec } from './api/view-spec.ts'
import type { ViewStatus } from './api/view-status.ts'

/** The metadata of a resource, as far as the operator reads it. */
interface ResourceMetadata {
  /** Name; names of everything that is made for the resource begin with it. */
  readonly name: string
  /** Namespace of the resource and of everything that is made for it. */
  readonly namespace: string
  /** Another one for each resource, also for a later one of the same name. */
  readonly uid: string
  /** Counts the changes of the spec. */
  readonly generation: number
  /** Labels; those of a Host are what Views select it by. */
  readonly labels?: Readonly<Record<string, string>>
  /** Annotations; `requests` in `api/annotations.ts` lists those that are read. */
  readonly annotations?: Readonly<Record<string, string>>
  /** RFC 3339; when the resource was made. */
  readonly creationTimestamp?: string
  /** RFC 3339; there while the resource is being deleted. */
  readonly deletionTimestamp?: string
}

/**
 * A Generator sits beside one execution node, reads its blocks, signs them and sends them to Hosts.
 * It is exactly one pod, with a volume for its keys and one for its blocks.
 * @rule size(self.metadata.name) <= 40
 * @message metadata.name may have 40 characters at most, because names of pods and Services are made from it: choose a shorter one
 * @fieldPath .metadata.name
 * @rule self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')
 * @message metadata.name must begin with a letter and have lower-case letters, digits and "-" only, because Services are named after it
 * @fieldPath .metadata.name
 * @rule !isQuantity(self.spec.storage.keys.size) || quantity(self.spec.storage.keys.size).compareTo(quantity(oldSelf.spec.storage.keys.size)) >= 0 || (has(self.status) && has(self.status.storage) && has(self.status.storage.keys) && isQuantity(self.status.storage.keys) && quantity(self.spec.storage.keys.size).compareTo(quantity(self.status.storage.keys)) >= 0)
 * @message storage.keys.size cannot shrink below what the volumes have, because Kubernetes makes no volume smaller: put the old size back
 * @fieldPath .spec.storage.keys.size
 * @rule !isQuantity(self.spec.storage.data.size) || quantity(self.spec.storage.data.size).compareTo(quantity(oldSelf.spec.storage.data.size)) >= 0 || (has(self.status) && has(self.status.storage) && has(self.status.storage.data) && isQuantity(self.status.storage.data) && quantity(self.spec.storage.data.size).compareTo(quantity(self.status.storage.data)) >= 0)
 * @message storage.data.size cannot shrink below what the volumes have, because Kubernetes makes no volume smaller: put the old size back, or create another resource with less
 * @fieldPath .spec.storage.data.size
 */
export interface Generator {
  /** Group and version: viewmesh.io/v1alpha1. */
  readonly apiVersion: string
  /** Generator. */
  readonly kind: 'Generator'
  /** Name, namespace, annotations. */
  readonly metadata: ResourceMetadata
  /** What is wanted. */
  readonly spec: GeneratorSpec
  /**
   * What is there.
   * @default {"observedGeneration": -1}
   */
  readonly status?: GeneratorStatus
}

/**
 * A Host fetches sealed blocks from Generators, verifies every record and answers GraphQL queries. Each
 * replica has its own peer ID, keys and store.
 * @rule size(self.metadata.name) <= 40
 * @message metadata.name may have 40 characters at most, because names of pods and Services are made from it: choose a shorter one
 * @fieldPath .metadata.name
 * @rule self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')
 * @message metadata.name must begin with a letter and have lower-case letters, digits and "-" only, because Services are named after it
 * @fieldPath .metadata.name
 * @rule !isQuantity(self.spec.storage.keys.size) || quantity(self.spec.storage.keys.size).compareTo(quantity(oldSelf.spec.storage.keys.size)) >= 0 || (has(self.status) && has(self.status.storage) && has(self.status.storage.keys) && isQuantity(self.status.storage.keys) && quantity(self.spec.storage.keys.size).compareTo(quantity(self.status.storage.keys)) >= 0)
 * @message storage.keys.size cannot shrink below what the volumes have, because Kubernetes makes no volume smaller: put the old size back
 * @fieldPath .spec.storage.keys.size
 * @rule !isQuantity(self.spec.storage.data.size) || quantity(self.spec.storage.data.size).compareTo(quantity(oldSelf.spec.storage.data.size)) >= 0 || (has(self.status) && has(self.status.storage) && has(self.status.storage.data) && isQuantity(self.status.storage.data) && quantity(self.spec.storage.data.size).compareTo(quantity(self.status.storage.data)) >= 0)
 * @message storage.data.size cannot shrink below what the volumes have, because Kubernetes makes no volume smaller: put the old size back, or create another resource with less
 * @fieldPath .spec.storage.data.size
 */
export interface Host {
  /** Group and version: viewmesh.io/v1alpha1. */
  readonly apiVersion: string
  /** Host. */
  readonly kind: 'Host'
  /** Name, namespace, annotations. */
  readonly metadata: ResourceMetadata
  /** What is wanted. */
  readonly spec: HostSpec
  /**
   * What is there.
   * @default {"observedGeneration": -1}
   */
  readonly status?: HostStatus
}

/**
 * A View is a way to see the blocks of a chain: a query, the type of its rows and the lenses between them. The Hosts that
 * it selects compute its rows and serve them in GraphQL.
 * @rule size(self.metadata.name) <= 63
 * @message metadata.name may have 63 characters at most, because it is the value of a label: choose a shorter one
 * @fieldPath .metadata.name
 */
export interface ViewResource {
  /** Group and version: viewmesh.io/v1alpha1. */
  readonly apiVersion: string
  /** View. */
  readonly kind: 'View'
  /** Name, namespace, annotations. */
  readonly metadata: ResourceMetadata
  /** What is wanted. */
  readonly spec: ViewSpec
  /**
   * What is there.
   * @default {"observedGeneration": -1}
   */
  readonly status?: ViewStatus
}

/** A resource that has pods. */
export type Workload = Generator | Host

/** A resource of any kind. */
export type Resource = Workload | ViewResource
