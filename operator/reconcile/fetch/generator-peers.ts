/** What a Host takes from the Generators it refers to: their addresses, and whose schema it reads. */
import type { GeneratorReference } from '../../api/common-spec.ts'
import type { Generator, Host } from '../../api.ts'
import { peerAddress } from '../../resources/names/addresses.ts'
import { networkOf } from '../../resources/names/names.ts'
import { parseHash } from '../observe/health-view.ts'

/** A Generator that a Host refers to; null where there is none of that name. */
export interface Referred {
  readonly reference: Required<GeneratorReference>
  readonly generator: Generator | null
  /** False where the operator does not watch that namespace. */
  readonly isWatched: boolean
}

/** The Generators of a Host in its order, each once: a spec may name its own namespace or leave it out. */
export function referredGenerators(
  host: Host,
  find: (namespace: string, name: string) => Generator | null,
  watches: (namespace: string) => boolean = () => true,
): Referred[] {
  const all = references(host).map(
    (reference): Referred => ({
      reference,
      generator: find(reference.namespace, reference.name),
      isWatched: watches(reference.namespace),
    }),
  )
  return [...new Map(all.map((one) => [nameOf(one), one])).values()]
}

/**
 * `namespace/name` of those that a Host names more than once, with its own namespace and without: no rule of the API
 * server can compare the two.
 */
export function repeatedGenerators(host: Host): string[] {
  const names = references(host).map((reference) => nameOf({ reference }))
  return [...new Set(names.filter((name, index) => names.indexOf(name) < index))]
}

function references({ spec, metadata }: Host): Required<GeneratorReference>[] {
  return (spec.generators ?? []).map(({ name, namespace = metadata.namespace }) => ({
    name,
    namespace,
  }))
}

/**
 * Those of another chain than the Host, by their names or by the chain ID that the Host wants: they have no block for
 * it, or another schema.
 */
export function foreignGenerators(host: Host, referred: readonly Referred[]): Referred[] {
  const network = networkOf(host)
  const { id } = host.spec.chain
  return referred.filter(({ generator }) => {
    if (generator === null) return false
    const found = chainIDOf(generator)
    return networkOf(generator) !== network || (id !== undefined && found !== null && found !== id)
  })
}

/** What its execution node said last, else what its spec wants it to say; null while neither does. */
export function chainIDOf({ spec, status }: Generator): number | null {
  return status?.nodes?.[0]?.chainID ?? spec.chain.id ?? null
}

/** `namespace/name`. */
export function nameOf({ reference: { namespace, name } }: Pick<Referred, 'reference'>): string {
  return `${namespace}/${name}`
}

/** Undefined while it is not known. */
export function peerIDOf({ generator }: Referred): string | undefined {
  return generator?.status?.nodes?.[0]?.peerID
}

/** Block 0 of what it stores, as it says itself; null while that is not known. */
export function genesisOf({ generator }: Pick<Referred, 'generator'>): string | null {
  return parseHash(generator?.status?.nodes?.[0]?.genesis)
}

/** By hash of block 0: the chain ID that the nodes of these say of it, where they say the same. */
export function chainIDsOf(referred: readonly Referred[]): Map<string, number> {
  const said = referred.flatMap((one): { readonly genesis: string; readonly chainID: number }[] => {
    const genesis = genesisOf(one)
    const chainID = one.generator?.status?.nodes?.[0]?.chainID
    return genesis === null || chainID === undefined ? [] : [{ genesis, chainID }]
  })
  const byGenesis = Map.groupBy(said, ({ genesis }) => genesis)
  return new Map(
    [...byGenesis].flatMap(([genesis, found]): [string, number][] => {
      const [first, ...others] = new Set(found.map(({ chainID }) => chainID))
      return first === undefined || others.length > 0 ? [] : [[genesis, first]]
    }),
  )
}

/** Whether its Secrets were made, as far as they could be. */
export function wasReconciled({ status }: Generator): boolean {
  return (status?.observedGeneration ?? -1) >= 0
}

/** Why a Generator is not Ready, or `Suspended`; null where it is up, or is not there. */
export function unreadyReason({ generator }: Pick<Referred, 'generator'>): string | null {
  if (generator === null) return null
  const ready = generator.status?.conditions?.find(({ type }) => type === 'Ready')
  const isUp = ready?.status === 'True' && ready.reason !== 'Suspended'
  return isUp ? null : (ready?.reason ?? 'Pending')
}

/** Addresses of those whose peer ID is known. */
export function peersOf(referred: readonly Referred[], clusterDomain: string): string[] {
  return referred.flatMap((one) => {
    const { generator } = one
    const peerID = peerIDOf(one)
    if (generator === null || peerID === undefined) return []
    return [peerAddress(generator, peerID, clusterDomain)]
  })
}

/** Whether a Generator's schema key may be handed to Hosts of a namespace. */
function allowsNamespace({ spec, metadata }: Generator, namespace: string): boolean {
  return (
    metadata.namespace === namespace ||
    (spec.schemaAuth.allowedNamespaces ?? []).includes(namespace)
  )
}

/**
 * The Generator whose schema a Host reads: the one it has, while that is named and not refused, else
 * the first that allows it. A Generator that is gone for a while keeps its place, since another
 * one replaces the Host's pods.
 */
export function schemaGenerator(
  host: Host,
  referred: readonly Referred[],
  current: Required<GeneratorReference> | null,
): Referred | null {
  const { namespace } = host.metadata
  const allowed = ({ generator }: Referred): boolean =>
    generator !== null && allowsNamespace(generator, namespace)
  const kept = referred.find(
    ({ reference }) =>
      reference.name === current?.name && reference.namespace === current.namespace,
  )
  if (kept !== undefined && (kept.generator === null || allowed(kept))) return kept
  return referred.find(allowed) ?? null
}
