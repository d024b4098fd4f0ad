/** What patches make of objects at the stand-in for the API server. */
import type { IncomingHttpHeaders } from 'node:http'
import { mergeStrategically } from '../../../operator/resources/drift/strategic-merge.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { type JsonObject, mergePatch } from '../../support/resources/merge-patch.ts'
import { jsonPatch } from './json-patch.ts'

/** The request that carries it. */
interface Patch {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

/**
 * What a patch makes of an object; null where an operation does not fit it. What is applied is merged, lists
 * whose items have keys item by item, so that what others added stays; a status belongs to one manager, and
 * `managedBy` in it to another.
 */
export function patched(
  { path, query, body, headers }: Patch,
  before: KubernetesObject = {},
): KubernetesObject | null {
  const type = headers['content-type'] ?? ''
  if (type.startsWith('application/json-patch')) return jsonPatch(before, body)
  const given = (body ?? {}) as KubernetesObject & JsonObject
  if (!type.startsWith('application/apply-patch')) return mergePatch({ ...before }, given)
  if (path.endsWith('/status')) {
    return { ...before, ...{ status: appliedStatus(query, given, before) } }
  }
  return mergeStrategically(before, given)
}

function appliedStatus(
  { fieldManager }: Patch['query'],
  given: JsonObject,
  before: KubernetesObject & { readonly status?: unknown },
): object {
  const known = Object(before.status)
  const status = Object(given['status'])
  if (fieldManager === 'viewmesh-operator-management') return { ...known, ...status }
  return 'managedBy' in known ? { ...status, managedBy: known.managedBy } : status
}
