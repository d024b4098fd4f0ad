/**
 * Whether all replicas of a Host store one chain, and the one that the Generators it names are on. Chains are
 * identified by their block 0, whatever they are called. What a replica said last counts while it does not answer.
 */
import type { Host } from '../../api.ts'
import { claimName, podName, wantedOrdinals } from '../../resources/names/names.ts'
import { foreignGenerators, genesisOf, nameOf, type Referred } from '../fetch/generator-peers.ts'
import { parseHash } from '../observe/health-view.ts'
import { placesOf, type ReplicaViews } from '../observe/reporting-replicas.ts'
import { listed } from '../statements/sentences.ts'
import type { SignersIssue } from './signers-issue.ts'

interface ChainFacts {
  readonly referred: readonly Referred[]
  readonly views: ReplicaViews
}

interface Replica {
  readonly ordinal: number
}

/** Replicas, or Generators, of one chain. */
interface Chain<T> {
  readonly genesis: string
  readonly members: readonly T[]
}

/** At most one: replicas that differ from each other, else from a Generator. */
export function chainIssues(host: Host, { referred, views }: ChainFacts): SignersIssue[] {
  const replicas = wantedOrdinals(host).map((ordinal) => ({ ordinal }))
  const stored = byGenesis(replicas, ({ ordinal }) => storedGenesis(host, ordinal, views))
  const foreign = foreignGenerators(host, referred)
  const read = byGenesis(
    referred.filter((one) => !foreign.includes(one)),
    genesisOf,
  )
  if (stored.length > 1) return [replicasDiffer(host, stored, read)]
  const [own] = stored
  const others = read.filter(({ genesis }) => genesis !== own?.genesis)
  if (own === undefined || others.length === 0 || isReported(views)) return []
  return [
    {
      reason: 'ChainMismatch',
      what: `At ${placesOf(own.members)} the chain with block 0 ${short(own)} is stored; ${generatorsText(others)}.`,
      remedy: `Where the chain was created again, have its blocks fetched again: ${commands(host, own)}; else take that Generator off spec.generators.`,
    },
  ]
}

function storedGenesis({ status }: Host, ordinal: number, views: ReplicaViews): string | null {
  const view = views.get(ordinal) ?? null
  if (view !== null) return view.genesis
  return parseHash(status?.nodes?.find((node) => node.ordinal === ordinal)?.genesis)
}

function replicasDiffer(
  host: Host,
  stored: readonly Chain<Replica>[],
  read: readonly Chain<Referred>[],
): SignersIssue {
  const places = stored.map((chain) => `${placesOf(chain.members)} with block 0 ${short(chain)}`)
  const generators = read.length === 0 ? '' : ` ${generatorsText(read)}.`
  const wrong = stored.filter(({ genesis }) => read.every((chain) => chain.genesis !== genesis))
  const isKnown = wrong.length > 0 && wrong.length < stored.length
  const [first] = isKnown ? wrong : stored
  const which = isKnown
    ? 'Have those that no Generator is with'
    : 'See which chain is right, and have the other replicas'
  const example =
    first === undefined
      ? ''
      : `, for ${placesOf(first.members.slice(0, 1))}: ${commands(host, first)}`
  return {
    reason: 'ReplicasDiffer',
    what: `Replicas store different chains of one name, and the Service answers from all of them: ${listed(places, '; ')}.${generators}`,
    remedy: `${which} fetch their blocks again${example}.`,
  }
}

/** A replica that hears such a Generator says so itself, and names the signer. */
function isReported(views: ReplicaViews): boolean {
  return [...views.values()].some((view) =>
    view?.errors.some(({ code }) => code === 'HOST_GENESIS_MISMATCH'),
  )
}

function byGenesis<T>(members: readonly T[], genesisOf: (member: T) => string | null): Chain<T>[] {
  return [...Map.groupBy(members, genesisOf)].flatMap(([genesis, found]) =>
    genesis === null ? [] : [{ genesis, members: found }],
  )
}

function generatorsText(chains: readonly Chain<Referred>[]): string {
  const texts = chains.flatMap((chain) =>
    chain.members.map((one) => `${nameOf(one)} reads that with ${short(chain)}`),
  )
  return `Generator ${listed(texts)}`
}

function commands(host: Host, { members }: Chain<Replica>): string {
  const ordinal = members[0]?.ordinal ?? 0
  return `kubectl delete pvc ${claimName(host, 'data', ordinal)} --wait=false, then kubectl delete pod ${podName(host, ordinal)}`
}

function short({ genesis }: Pick<Chain<unknown>, 'genesis'>): string {
  return `${genesis.slice(0, 14)}…`
}
