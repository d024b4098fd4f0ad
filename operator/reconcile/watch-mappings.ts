/** Watch mappings: which resources are reconciled when something that is watched changes. */
import type { Generator, Host, Resource, ViewResource } from '../api.ts'
import { canonicalJson } from '../resources/names/canonical-json.ts'
import { selectsHost } from '../resources/names/host-selector.ts'
import type { Cached, Change } from '../runtime/cache/object-cache.ts'
import type { Reflector } from '../runtime/cache/reflector.ts'
import { parseKey } from '../runtime/client/resource-type.ts'
import type { Controller } from '../runtime/controller.ts'
import type { Urgency } from '../runtime/work-queue.ts'
import { referredGenerators, unreadyReason, wasReconciled } from './fetch/generator-peers.ts'
import type { Belonging, ClusterView } from './observe/cluster-view.ts'
import type { Informer } from './observe/informer.ts'

export type Controllers = Readonly<Record<Resource['kind'], Pick<Controller, 'add'>>>

/** Passes what is there and all changes on to the controllers; those that are closed take none. */
export function startWatches(view: ClusterView, controllers: Controllers): void {
  for (const informer of informersOf(view)) {
    for (const { key, value } of informer.list()) {
      controllers[value.kind].add(key, urgencyOf(value))
    }
  }
  const belongings: readonly Informer<Belonging<unknown>>[] = [
    ...Object.values(view.children),
    view.pods,
    view.claims,
    view.jobs,
  ]
  for (const informer of informersOf(view))
    informer.onChange((change) => addResource(controllers, change))
  view.resources.Generator.onChange((change) => {
    if (!concernsHosts(change)) return
    for (const key of hostsOf(view, change)) controllers.Host.add(key, 'owned')
  })
  view.resources.View.onChange((change) => {
    if (interestInView(change.before) === interestInView(change.after)) return
    for (const key of hostKeysOf(view, change)) controllers.Host.add(key, 'owned')
  })
  view.resources.Host.onChange(({ key, before, after }) => {
    if (before && after && specMarkOf(before.value) === specMarkOf(after.value)) return
    for (const one of [before, after]) {
      for (const of of one ? viewKeysOf(view, key, one.value) : [])
        controllers.View.add(of, 'owned')
    }
  })
  view.children.ConfigMap.onChange(({ before, after }) => {
    const owner = (after ?? before)?.value.owner
    if (owner?.kind !== 'View') return
    const { namespace, name } = parseKey(owner.key)
    const found = view.resources.View.get(namespace, name) ?? null
    for (const key of hostKeysOf(view, { before: null, after: found })) {
      controllers.Host.add(key, 'owned')
    }
  })
  for (const informer of belongings) informer.onChange((change) => addOwner(controllers, change))
  for (const reflector of view.reflectors)
    reflector.onTurn(() => addAffected(view, controllers, reflector))
}

function informersOf({ resources }: ClusterView): readonly Informer<Resource>[] {
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
  const isRead = (kind: Resource['kind']): boolean => kind === 'Host' && type.kind === 'Generator'
  for (const informer of informersOf(view)) {
    for (const { key, value } of informer.list()) {
      if (isInside(key) || isRead(value.kind)) controllers[value.kind].add(key, 'owned')
    }
  }
}

/** Changes of status are our own; what people change counts in generation and annotations. */
function addResource(
  controllers: Controllers,
  { key, before, after, listed }: Change<Resource>,
): void {
  const kind = (after ?? before)?.value.kind
  if (kind === undefined) return
  const urgency: Urgency = listed && after !== null ? urgencyOf(after.value) : 'user'
  const isSpecChange =
    before === null || after === null || specMarkOf(before.value) !== specMarkOf(after.value)
  if (isSpecChange || isOtherOperator(before, after)) controllers[kind].add(key, urgency)
}

/** Where two operators overlap, each answers the other at once. */
function isOtherOperator(before: Cached<Resource>, after: Cached<Resource>): boolean {
  const managedBy = before.value.status?.managedBy
  return managedBy !== undefined && managedBy !== after.value.status?.managedBy
}

/** A new spec does not wait behind a thousand resources that may need nothing. */
function urgencyOf({ metadata, status }: Resource): Urgency {
  return status?.observedGeneration === metadata.generation ? 'resync' : 'user'
}

function specMarkOf({ metadata }: Resource): string {
  const { uid, generation, labels, annotations, deletionTimestamp } = metadata
  return canonicalJson([uid, generation, labels, annotations, deletionTimestamp])
}

function addOwner(controllers: Controllers, { before, after }: Change<Belonging<unknown>>): void {
  const owners = [before?.value.owner, after?.value.owner]
  for (const owner of owners) if (owner) controllers[owner.kind].add(owner.key, 'owned')
}

/** Whether Hosts may have another peer or another schema to go by, or something else to say of a peer. */
function concernsHosts({ before, after }: Change<Generator>): boolean {
  return interestOf(before?.value) !== interestOf(after?.value)
}

function interestOf(generator: Generator | undefined): string {
  if (generator === undefined) return ''
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

/** What Hosts that a View selects go by; empty where there is none. */
function interestInView(view: Cached<ViewResource> | null): string {
  if (view === null) return ''
  const { metadata, spec, status } = view.value
  const { uid, deletionTimestamp } = metadata
  const isRegistered = spec.registration !== undefined
  const selection = [spec.hostSelector, spec.paused, spec.registryID, isRegistered]
  return canonicalJson([uid, deletionTimestamp, ...selection, status?.viewID])
}

/** Keys of the Hosts that a View selects, or selected. */
function hostKeysOf(
  { resources }: ClusterView,
  { before, after }: Pick<Change<ViewResource>, 'before' | 'after'>,
): string[] {
  const selects = (host: Host): boolean =>
    [before, after].some((one) => one !== null && selectsHost(one.value, host))
  return [...resources.Host.list()].filter(({ value }) => selects(value)).map(({ key }) => key)
}

/** Keys of the Views that select a Host, as it is unless another state of it is given. */
export function viewKeysOf(
  { resources }: Pick<ClusterView, 'resources'>,
  hostKey: string,
  given?: Host,
): string[] {
  const { namespace, name } = parseKey(hostKey)
  const host = given ?? resources.Host.get(namespace, name)?.value
  if (host === undefined) return []
  return [...resources.View.list()]
    .filter(({ value }) => selectsHost(value, host))
    .map(({ key }) => key)
}
