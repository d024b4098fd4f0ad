/** Everything that an operator made for a resource, without what differs from one of its kind to the next. */
import { records } from '../../../../operator/api/annotations.ts'
import type { LiveObject, Namespaced } from './cluster-resources.ts'

/** Kinds of what is made for a resource, but for its pods. */
export const madeKinds = [
  'ConfigMap',
  'NetworkPolicy',
  'PersistentVolumeClaim',
  'PodDisruptionBudget',
  'Secret',
  'Service',
  'ServiceAccount',
  'StatefulSet',
] as const

/** Fields that Kubernetes or chance fills in. */
const varying: readonly string[] = [
  'clusterIP',
  'clusterIPs',
  'creationTimestamp',
  'data',
  'generation',
  'managedFields',
  'nodePort',
  'resourceVersion',
  'status',
  'uid',
  'viewmesh.io/applied',
  'viewmesh.io/keyring-fingerprint',
  'viewmesh.io/pod-template',
  'viewmesh.io/template-inputs',
]

/** By kind and name, with `NAME` for the name of the Generator or Host. */
export async function normalObjects(here: Namespaced, name: string): Promise<unknown> {
  const all = await Promise.all(
    madeKinds.map(async (kind) =>
      (await here.list(kind))
        .filter(({ metadata }) => isOf(metadata.name, name))
        .map((object) => [`${kind} ${object.metadata.name}`, normal(object)]),
    ),
  )
  const text = JSON.stringify(Object.fromEntries(all.flat()))
  return JSON.parse(text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), 'NAME'))
}

/** How many claims of a Generator or Host are marked with their keys, which is the last that is done about them. */
export async function markedClaims(here: Namespaced, name: string): Promise<number> {
  const claims = (await here.list('PersistentVolumeClaim')).filter(({ metadata }) =>
    isOf(metadata.name, name),
  )
  return claims.filter(({ metadata }) => metadata.annotations?.[records.keyringFingerprint]).length
}

function isOf(object: string, name: string): boolean {
  return new RegExp(`^((keys|data)-)?${name}-(generator|host)\\b`).test(object)
}

/** Of Secrets and ConfigMaps only the names of keys are the same. */
function normal(object: LiveObject): unknown {
  const keys = Object.keys(object.data ?? {}).toSorted()
  return { keys, rest: without(object) }
}

function without(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(without)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !varying.includes(name))
      .map(([name, found]) => [name, without(found)]),
  )
}
