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
  const each = [...reported].map(([generator, found]) => ({ generator, ...found }))
  return {
    accepted: each.flatMap(({ generator, accepted }) =>
      accepted === null ? [] : [{ generator, identity: accepted }],
    ),
    changed: each.flatMap(({ generator, accepted, said }) =>
      accepted === null || said === null || said === accepted
        ? []
        : [{ generator, identity: accepted, said }],
    ),
    unknown: each.flatMap(({ generator, accepted }) => (accepted === null ? [generator] : [])),
    peers: referred.filter((one) => {
      const { accepted = null, said = null } = reported.get(nameOf(one)) ?? {}
      return accepted === null || said === accepted
    }),
  }
}

interface KnownSigner {
  readonly accepted: string | null
  /** What it says now, or said last. */
  readonly said: string | null
}

function signerOf({ status, metadata }: Host, one: Referred): KnownSigner {
  const said = parseIdentity(one.generator?.status?.nodes?.[0]?.identity)
  const known = status?.signers?.find(({ generator }) => generator === nameOf(one))
  const before = parseIdentity(known?.identity)
  const wanted = metadata.annotations?.[requests.acceptSigners] ?? ''
  const isWanted = wanted.split(',').some((identity) => identity.trim() === said)
  return { accepted: before === null || isWanted ? said : before, said }
}
