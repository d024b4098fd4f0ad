/** Metadata of what is made for a resource: names, labels, ownership. */
import type { V1ObjectMeta, V1OwnerReference } from '@kubernetes/client-node'
import { labels } from '../../api/annotations.ts'
import { groupVersion } from '../../api/resource-kinds.ts'
import type { Resource } from '../../api.ts'
import type { NamedResource } from './names.ts'

type Texts = Readonly<Record<string, string>>

/** What the pods of a resource are found by; never changed, StatefulSets do not allow it. */
export function selectorLabels(resource: NamedResource): Record<string, string> {
  return { [labels.name]: resource.kind.toLowerCase(), [labels.instance]: resource.metadata.name }
}

/** The same as the text that the scale subresource wants. */
export function selectorText(resource: NamedResource): string {
  return Object.entries(selectorLabels(resource))
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
}

/** Labels of every object; they hold no version, so that an upgrade changes none of them. */
export function childLabels(resource: NamedResource): Record<string, string> {
  return {
    ...selectorLabels(resource),
    [labels.partOf]: 'viewmesh',
    [labels.managedBy]: 'viewmesh-operator',
  }
}

/** Metadata of an object that goes when its resource goes. */
export function childMetadata(
  resource: Resource,
  name: string,
  { annotations }: { readonly annotations?: Texts | undefined } = {},
): V1ObjectMeta {
  return {
    ...keptMetadata(resource, name, { annotations }),
    ownerReferences: [controllerReference(resource)],
  }
}

/** Metadata of an object that stays when its resource goes. */
export function keptMetadata(
  resource: NamedResource,
  name: string,
  { annotations }: { readonly annotations?: Texts | undefined } = {},
): V1ObjectMeta {
  const hasAnnotations = annotations !== undefined && Object.keys(annotations).length > 0
  return {
    name,
    namespace: resource.metadata.namespace,
    labels: childLabels(resource),
    ...(hasAnnotations ? { annotations: { ...annotations } } : {}),
  }
}

/** The reference by which Kubernetes deletes an object together with its resource. */
function controllerReference(resource: Resource): V1OwnerReference {
  return { ...ownerReference(resource), controller: true, blockOwnerDeletion: true }
}

/** The same on what another controller made, or what should only be deleted too. */
export function ownerReference({ kind, metadata }: Resource): V1OwnerReference {
  return { apiVersion: groupVersion, kind, name: metadata.name, uid: metadata.uid }
}
