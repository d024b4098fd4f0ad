/** Generators and Hosts by the names that people type. */
import { ServiceError } from '../../../src/errors.ts'
import { apiGroup, workloadKinds } from '../../api/resource-kinds.ts'
import type { Workload } from '../../api.ts'
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
  const [word = '', name = '', ...rest] = text.split('/')
  const kind = kinds.find(({ singular, plural }) => {
    const names = [singular, plural].flatMap((one) => [one, `${one}.${apiGroup}`])
    return names.includes(word.toLowerCase())
  })?.kind
  if (kind !== undefined && /^[a-z][-a-z0-9]{0,39}$/.test(name) && rest.length === 0) {
    return { kind, name }
  }
  throw new ServiceError('PLUGIN_ARGUMENT_INVALID', `${text} is no Generator or Host`, {
    remedy: 'Name it as KIND/NAME, such as host/mainnet or generator/mainnet.',
  })
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
  throw new ServiceError(
    'PLUGIN_RESOURCE_MISSING',
    `there is no ${kind} ${name} in namespace ${namespace}`,
    {
      remedy: 'Name another with --namespace, or see which there are: kubectl get viewmesh -A.',
    },
  )
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
