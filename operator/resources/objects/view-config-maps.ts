/** The ConfigMaps with Views: one that keeps the bytes of a View, and those that the pods of a Host read. */
import type { V1ConfigMap, V1ObjectMeta } from '@kubernetes/client-node'
import type { Host, ViewResource } from '../../api.ts'
import { childMetadata } from '../names/metadata.ts'
import { viewConfigName, viewPartName } from '../names/names.ts'
import type { PlacedViews, StoredView } from '../pod/placed-views.ts'

/** Keeps the bytes of a View, which another version of Zstandard would not make again. */
export function viewConfigMap(view: ViewResource, { name, bytes }: StoredView): V1ConfigMap {
  return configMap(childMetadata(view, viewConfigName(view)), { [name]: bytes })
}

/** Those of a Host that there are or have to be: one that holds nothing any more stays, and is empty. */
export function hostViewMaps(host: Host, { parts }: PlacedViews): V1ConfigMap[] {
  return parts.flatMap((part, index): V1ConfigMap[] =>
    part === null ? [] : [configMap(childMetadata(host, viewPartName(host, index)), part)],
  )
}

/** An API server does not keep `binaryData` that is empty. */
function configMap(metadata: V1ObjectMeta, binaryData: Record<string, string>): V1ConfigMap {
  const isEmpty = Object.keys(binaryData).length === 0
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...(!isEmpty && { binaryData }) }
}
