/**
 * Quantities in a user's `podTemplate`. The API server refuses one that cannot be parsed without saying
 * where it is.
 * https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.34/#podspec-v1-core
 */
import type { PodTemplate } from '../../api/pod-template.ts'
import { parseQuantity } from '../names/quantity.ts'
import { fieldOf, fieldsOf } from '../names/unchecked-json.ts'

/** Something in the place of a quantity. */
interface BadQuantity {
  /** As in `spec.podTemplate.spec.containers[host].resources.limits.memory`. */
  readonly path: string
  readonly value: unknown
}

/** Below `spec` of a pod: where quantities are. `*` is every field of an object, `[]` every item of a list. */
const places: readonly string[] = [
  'overhead.*',
  ...amountsIn('resources'),
  ...['containers', 'initContainers'].flatMap((list) => [
    ...amountsIn(`${list}.[].resources`),
    `${list}.[].env.[].valueFrom.resourceFieldRef.divisor`,
  ]),
  'volumes.[].emptyDir.sizeLimit',
  ...amountsIn('volumes.[].ephemeral.volumeClaimTemplate.spec.resources'),
  'volumes.[].downwardAPI.items.[].resourceFieldRef.divisor',
  'volumes.[].projected.sources.[].downwardAPI.items.[].resourceFieldRef.divisor',
]

function amountsIn(resources: string): string[] {
  return [`${resources}.limits.*`, `${resources}.requests.*`]
}

/** Values that are no quantities, in the order of a pod's fields; what is of another shape is not read. */
export function badQuantities(podTemplate: PodTemplate | undefined): BadQuantity[] {
  return places
    .flatMap((place) => valuesAt(podTemplate?.spec, place.split('.'), 'spec.podTemplate.spec'))
    .filter(({ value }) => value !== null && parseQuantity(value) === undefined)
}

function valuesAt(value: unknown, steps: readonly string[], path: string): BadQuantity[] {
  const [step, ...rest] = steps
  if (step === undefined) return [{ path, value }]
  if (step === '[]') {
    if (!Array.isArray(value)) return []
    return value.flatMap((item: unknown, index) =>
      valuesAt(item, rest, `${path}[${fieldOf(item, 'name') ?? index}]`),
    )
  }
  return Object.entries(fieldsOf(value)).flatMap(([name, found]) =>
    step === '*' || step === name ? valuesAt(found, rest, `${path}.${name}`) : [],
  )
}
