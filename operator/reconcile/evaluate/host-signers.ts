/**
 * Which signers a Host trusts because its spec names their Generators. The identity that a Generator reports first
 * is accepted, and kept in the Host's status. A Generator that reports another one later, also another Generator of
 * the same name, may be an impostor, so an operator of the Host has to decide. Until then the Host does not even get
 * the address, since it would trust a Generator that it connects to.
 */
import { requests } from '../../api/annotations.ts'
import type { GeneratorSigner } from '../../api/status.ts'
import type { Host } from '../../api.ts'
import { foreignGenerators, nameOf, type Referred } from '../fetch/generator-peers.ts'
import { parseIdentity } from '../observe/signing-identity.ts'

/** A Generator that says another identity than the one that counts. */
export interface ChangedGenerator extends GeneratorSigner {
  readonly said: string
}

export interface HostSigners {
  /** In the order of the spec. */
  readonly accepted: readonly GeneratorSigner[]
  /** These, and what was accepted of Generators that are of another chain now: status remembers it while they are named. */
  readonly remembered: readonly GeneratorSigner[]
  readonly changed: readonly ChangedGenerator[]
  /** Names of those that have never reported an identity. */
  readonly unknown: readonly string[]
  /** Those whose addresses the Host may get. */
  readonly peers: readonly Referred[]
}

/** Of the Generators of a Host, in its order; those of another chain sign nothing that is of use. */
export function hostSigners(host: Host, referred: readonly Referred[]): HostSigners {
  const foreign = foreignGenerators(host, referred)
  const reported = new Map<string, KnownSigner>()
  for (const one of referred) {
    if (!foreign.includes(one)) reported.set(nameOf(one), signerOf(host, one))
  }
  const former = new Map(foreign.map((one) => [nameOf(one), acceptedBefore(host, one)]))
  const each = [...reported].map(([generator, found]) => ({ generator, ...found }))
  const accepted = each.flatMap(({ generator, accepted: identity }) =>
    identity === null ? [] : [{ generator, identity }],
  )
  return {
    accepted,
    remembered: [
      ...accepted,
      ...[...former].flatMap(([generator, identity]) =>
        identity === null ? [] : [{ generator, identity }],
      ),
    ],
    changed: each.flatMap(({ generator, accepted: identity, said }) =>
      identity === null || said === null || said === identity
        ? []
        : [{ generator, identity, said }],
    ),
    unknown: each.flatMap((one) => (one.accepted === null ? [one.generator] : [])),
    peers: referred.filter((one) => {
      const { accepted = null, said = null } = reported.get(nameOf(one)) ?? {}
      return said === accepted
    }),
  }
}

interface KnownSigner {
  readonly accepted: string | null
  /** What it says now, or said last. */
  readonly said: string | null
}

function signerOf(host: Host, one: Referred): KnownSigner {
  const said = parseIdentity(one.generator?.status?.nodes?.[0]?.identity)
  const before = acceptedBefore(host, one)
  const wanted = host.metadata.annotations?.[requests.acceptSigners] ?? ''
  const isWanted = wanted.split(',').some((identity) => identity.trim() === said)
  return { accepted: before === null || isWanted ? said : before, said }
}

function acceptedBefore({ status }: Host, one: Referred): string | null {
  const known = status?.signers?.find(({ generator }) => generator === nameOf(one))
  return parseIdentity(known?.identity)
}
