/**
 * Whose word counts at a Host because its spec names the Generator. What a Generator says of itself at its first
 * look is taken, and kept in the Host's status: whoever says something else later, another Generator of its name
 * included, may be somebody else, so that a person of the Host decides. Until then the Host is not even told
 * the address, since it would believe a Generator that it connects to.
 */
import { requests } from '../../api/annotations.ts'
import type { GeneratorSigner } from '../../api/status.ts'
import type { Host } from '../../api.ts'
import { foreignGenerators, nameOf, type Referred } from '../generator-peers.ts'
import { parseIdentity } from './signing-identity.ts'

/** A Generator that says another identity than the one that counts. */
export interface ChangedGenerator extends GeneratorSigner {
  readonly said: string
}

export interface HostSigners {
  /** In the order of the spec. */
  readonly accepted: readonly GeneratorSigner[]
  readonly changed: readonly ChangedGenerator[]
  /** Names of those that have never said who they are. */
  readonly unknown: readonly string[]
  /** Those whose addresses the Host may have. */
  readonly peers: readonly Referred[]
}

/** Of the Generators of a Host, in its order; those of another chain sign nothing that is of use. */
export function hostSigners(host: Host, referred: readonly Referred[]): HostSigners {
  const foreign = foreignGenerators(host, referred)
  const told = new Map<string, Told>()
  for (const one of referred) {
    if (!foreign.includes(one)) told.set(nameOf(one), toldOf(host, one))
  }
  const each = [...told].map(([generator, found]) => ({ generator, ...found }))
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
      const { accepted = null, said = null } = told.get(nameOf(one)) ?? {}
      return accepted === null || said === accepted
    }),
  }
}

interface Told {
  readonly accepted: string | null
  /** What it says now, or said last. */
  readonly said: string | null
}

function toldOf({ status, metadata }: Host, one: Referred): Told {
  const said = parseIdentity(one.generator?.status?.nodes?.[0]?.identity)
  const known = status?.signers?.find(({ generator }) => generator === nameOf(one))
  const before = parseIdentity(known?.identity)
  const wanted = metadata.annotations?.[requests.acceptSigners] ?? ''
  const isWanted = wanted.split(',').some((identity) => identity.trim() === said)
  return { accepted: before === null || isWanted ? said : before, said }
}
