/** Watch mappings: which resources are reconciled when something that is watched changes. */
import type { Generator, Host, Workload } from '../api.ts'
import { canonicalJson } from '../resources/names/canonical-json.ts'
import type { Cached, Change } from '../runtime/cache/object-cache.ts'
import type { Reflector } from '../runtime/cache/reflector.ts'
import { parseKey } from '../runtime/client/resource-type.ts'
import type { Controller } from '../runtime/controller.ts'
import type { Urgency } from '../runtime/work-queue.ts'
import { referredGenerators, unreadyReason, wasReconciled } from './fetch/generator-peers.ts'
import type { Belonging, ClusterView } from './observe/cluster-view.ts'
import type { Informer } from './observe/informer.ts'

export type Controllers = Readonly<Record<Workload['kind'], Pick<Controller, 'add'>>>

/** Passes what is there and all changes on to the controllers; returns the function that ends it. */
export function startWatches(view: ClusterView, controllers: Controllers): () => void {
  for (const informer of informersOf(view)) {
    for (const { key, value } of informer.list()) {
      controllers[value.kind].add(key, urgencyOf(value))
    }
  }
  const belongings: readonly Informer<Belonging<unknown>>[] = [
    ...Object.values(view.children),
    view.pods,
    view.claims,
  ]
  const ends = [
    ...informersOf(view).map((informer) =>
      informer.onChange((change) => addResource(controllers, change)),
    ),
    view.resources.Generator.onChange((change) => {
      if (!concernsHosts(change)) return
      for (const key of hostsOf(view, change)) controllers.Host.add(key, 'owned')
    }),
    ...belongings.map((informer) => informer.onChange((change) => addOwner(controllers, change))),
    ...view.reflectors.map((reflector) =>
      reflector.onTurn(() => addAffected(view, controllers, reflector)),
    ),
  ]
  return () => {
    for (const end of ends) end()
  }
}

function informersOf({ resources }: ClusterView): readonly Informer<Workload>[] {
  return Object.values(resources)
}

/** What cannot be read any more, or again, is so for all resources that anything of it follows for. */
function addAffected(
  view: ClusterView,
  controllers: Controllers,
  { type, namespace }: Reflector<unknown>,
): void {
  const isInside = (key: string): boolean =>
    namespace === undefined || parseKey(key).namespace === namespace
  // What follows for a resource from those of other namespaces.
  const isRead = (kind: Workload['kind']): boolean => kind === 'Host' && type.kind === 'Generator'
  for (const informer of informersOf(view)) {
    for (const { key, value } of informer.list()) {
      if (isInside(key) || isRead(value.kind)) controllers[value.kind].add(key, 'owned')
    }
  }
}

/** Changes of status are our own; what people change counts in generation and annotations. */
function addResource(
  controllers: Controllers,
  { key, before, after, listed }: Change<Workload>,
): void {
  const kind = (after ?? before)?.value.kind
  if (kind === undefined) return
  const urgency: Urgency = listed && after !== null ? urgencyOf(after.value) : 'user'
  const isSpecChange =
    before === null || after === null || specMarkOf(before.value) !== specMarkOf(after.value)
  if (isSpecChange || isOtherOperator(before, after)) controllers[kind].add(key, urgency)
}

/** Where two operators overlap, each answers the other at once. */
function isOtherOperator(before: Cached<Workload>, after: Cached<Workload>): boolean {
  const managedBy = before.value.status?.managedBy
  return managedBy !== undefined && managedBy !== after.value.status?.managedBy
}

/** A new spec does not wait behind a thousand resources that may need nothing. */
function urgencyOf({ metadata, status }: Workload): Urgency {
  return status?.observedGeneration === metadata.generation ? 'resync' : 'user'
}

function specMarkOf({ metadata }: Workload): string {
  const { uid, generation, annotations, deletionTimestamp } = metadata
  return canonicalJson([uid, generation, annotations ?? {}, deletionTimestamp ?? null])
}

function addOwner(controllers: Controllers, { before, after }: Change<Belonging<unknown>>): void {
  const owners = [before?.value.owner, after?.value.owner]
  for (const owner of owners) if (owner) controllers[owner.kind].add(owner.key, 'owned')
}

/** Whether Hosts may have another peer or another schema to go by, or something else to say of a peer. */
function concernsHosts({ before, after }: Change<Generator>): boolean {
  return interestOf(before?.value ?? null) !== interestOf(after?.value ?? null)
}

function interestOf(generator: Generator | null): string {
  if (generator === null) return ''
  const { metadata, spec, status } = generator
  const peers = (status?.nodes ?? []).map(({ peerID, identity, genesis, chainID }) => [
    peerID,
    identity,
    genesis,
    chainID,
  ])
  const condition = [wasReconciled(generator), unreadyReason({ generator })]
  return canonicalJson([metadata.uid, spec.schemaAuth, peers, ...condition])
}

/** Keys of the Hosts that refer to a Generator. */
function hostsOf({ resources }: ClusterView, { key }: Change<Generator>): string[] {
  const refersTo = (host: Host): boolean =>
    referredGenerators(host, () => null).some(
      ({ reference }) => `${reference.namespace}/${reference.name}` === key,
    )
  return [...resources.Host.list()].filter(({ value }) => refersTo(value)).map((host) => host.key)
}
