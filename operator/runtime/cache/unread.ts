/**
 * What cannot be read, by watched namespace: it seems empty, or as it was when it could be read last, and nothing
 * may follow from it.
 */
import { Gauge, type Registry } from 'prom-client'
import type { ServiceError } from '../../../src/errors.ts'
import type { Reflector } from './reflector.ts'

type Followed = Pick<
  Reflector<unknown>,
  'type' | 'namespace' | 'standsAlone' | 'unread' | 'isInitialized'
>

/** Why nothing may follow from what these hold; null where all of them can be relied on. */
export function unreadFailure(reflectors: readonly Followed[]): ServiceError | null {
  return reflectors.map((reflector) => reflector.unread()).find((failure) => failure) ?? null
}

/** Kinds that cannot be read in a namespace. */
interface Unread {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  readonly kinds: readonly string[]
}

/** Namespaces of which something cannot be read, in their order. */
export function unreadNamespaces(reflectors: readonly Followed[]): Unread[] {
  const unread = reflectors.filter((reflector) => reflector.unread() !== null)
  return [...Map.groupBy(unread, ({ namespace }) => namespace)].map(([namespace, found]) => ({
    namespace,
    kinds: found.map(({ type }) => type.kind),
  }))
}

/**
 * Why the operator is of no use: something is still being read, or in every namespace there is something that
 * it cannot read. One such namespace among others keeps it from nothing but what is in there, and a kind that stands
 * alone from nothing else.
 */
export function unreadProblem(reflectors: readonly Followed[]): string | null {
  if (reflectors.length === 0) return 'not connected yet'
  const unread = unreadNamespaces(reflectors.filter(({ standsAlone }) => !standsAlone))
  const isUseful = new Set(reflectors.map(({ namespace }) => namespace)).size > unread.length
  const isInitialized = reflectors.every((reflector) => reflector.isInitialized())
  if (isUseful && isInitialized) return null
  return `not read: ${unreadNamespaces(reflectors).map(unreadText).join('; ')}`
}

/** What is not reconciled, though the rest is; null where that is nothing, or all. */
export function unreadRemark(reflectors: readonly Followed[]): string | null {
  const unread = unreadNamespaces(reflectors)
  if (unread.length === 0 || unreadProblem(reflectors) !== null) return null
  return `nothing is done with what cannot be read, or depends on it: ${unread.map(unreadText).join('; ')}`
}

/** Declares `viewmesh_operator_unread_kinds`; the label is not `namespace`, which is the operator's own. */
export function declareUnread(registry: Registry, reflectors: () => readonly Followed[]): void {
  new Gauge({
    name: 'viewmesh_operator_unread_kinds',
    help: 'Kinds that cannot be read, by watched namespace (empty: all); what depends on them is left as it is.',
    labelNames: ['watched'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { namespace, kinds } of unreadNamespaces(reflectors())) {
        this.set({ watched: namespace ?? '' }, kinds.length)
      }
    },
  })
}

function unreadText({ namespace, kinds }: Unread): string {
  return `${kinds.join(', ')}${namespace === undefined ? '' : ` in ${namespace}`}`
}
