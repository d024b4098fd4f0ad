/** Generators, Hosts and Views by the names that people type. */
import { ServiceError } from '../../../src/errors.ts'
import { apiGroup, type ResourceKind, viewKind, workloadKinds } from '../../api/resource-kinds.ts'
import type { ViewResource, Workload } from '../../api.ts'
import type { NamedWorkload } from '../../resources/names/names.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'

/** What a person calls a resource. */
export interface ResourceName {
  readonly kind: Workload['kind']
  readonly name: string
}

const kinds = Object.values(workloadKinds)

/** `host/mainnet`, or with any other name that kubectl takes for the kind. Throws PLUGIN_ARGUMENT_INVALID. */
export function parseResourceName(text: string): ResourceName {
  const name = nameOf(text, /^[a-z][-a-z0-9]{0,39}$/)
  const kind = kinds.find((one) => isCalled(one, text))?.kind
  if (kind !== undefined && name !== null) return { kind, name }
  throw new ServiceError('PLUGIN_ARGUMENT_INVALID', `${text} is no Generator or Host`, {
    remedy: 'Name it as KIND/NAME, such as host/mainnet or generator/mainnet.',
  })
}

/** The name of a View in `view/payments`; null where that names no View. */
export function parseViewName(text: string): string | null {
  return isCalled(viewKind, text) ? nameOf(text, /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/) : null
}

function isCalled({ singular, plural }: ResourceKind, text: string): boolean {
  const [word = ''] = text.split('/')
  const names = [singular, plural].flatMap((one) => [one, `${one}.${apiGroup}`])
  return names.includes(word.toLowerCase())
}

function nameOf(text: string, form: RegExp): string | null {
  const [, name = '', ...rest] = text.split('/')
  return form.test(name) && rest.length === 0 ? name : null
}

/** `Host apps/mainnet`. */
export function describeResource({ kind, metadata }: NamedWorkload): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`
}

/** The resource. Throws PLUGIN_RESOURCE_MISSING. */
export async function readResource(
  api: KubernetesApi,
  namespace: string,
  { kind, name }: ResourceName,
): Promise<Workload> {
  const found = await api.find<Workload>({ type: workloadKinds[kind], namespace, name })
  if (found !== null) return { ...found, kind } as Workload
  throw missing(namespace, { kind, name })
}

/** The View. Throws PLUGIN_RESOURCE_MISSING. */
export async function readView(
  api: KubernetesApi,
  namespace: string,
  name: string,
): Promise<ViewResource> {
  const found = await api.find<ViewResource>({ type: viewKind, namespace, name })
  if (found !== null) return { ...found, kind: 'View' }
  throw missing(namespace, { kind: 'View', name })
}

function missing(
  namespace: string,
  { kind, name }: { readonly kind: string; readonly name: string },
): ServiceError {
  return new ServiceError(
    'PLUGIN_RESOURCE_MISSING',
    `there is no ${kind} ${name} in namespace ${namespace}`,
    {
      remedy: 'Name another with --namespace, or see which there are: kubectl get viewmesh -A.',
    },
  )
}

/** Views of a namespace, or (undefined) of all, by name. */
export async function listViewResources(
  api: KubernetesApi,
  namespace: string | undefined,
): Promise<ViewResource[]> {
  const keep = (view: ViewResource): ViewResource => ({ ...view, kind: 'View' })
  return [...(await api.list({ type: viewKind, namespace }, { keep })).items]
}

/** Those of a namespace, or (undefined) of all; Generators first, each kind by name. */
export async function listResources(
  api: KubernetesApi,
  namespace: string | undefined,
): Promise<Workload[]> {
  const found = await Promise.all(
    kinds.map(async ({ kind }) => {
      const type = workloadKinds[kind]
      const keep = (resource: Workload): Workload => ({ ...resource, kind }) as Workload
      return (await api.list({ type, namespace }, { keep })).items
    }),
  )
  return found.flat()
}
