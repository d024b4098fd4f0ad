/**
 * Type names: every collection carries the prefix `<Chain>__<Network>__`, and queries may use the
 * short name without it.
 */
import { ServiceError } from '../errors.ts'

const chainPattern = /^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$/
const networkPattern = /^[A-Za-z0-9]+(_[A-Za-z0-9]+)*$/
const maxPartLength = 64
/** Characters of a wrong part that an error shows. */
const maxShown = 80

/**
 * The network part of every type name, as in `Ethereum__Mainnet`.
 * @throws ServiceError `PRIMITIVES_NAME_INVALID` when a part would not make a readable GraphQL name
 * (https://spec.graphql.org/October2021/#Name).
 */
export function networkName(chain: string, network: string): string {
  checkPart('chain', chain, chainPattern)
  checkPart('network', network, networkPattern)
  return `${chain}__${network}`
}

/** The full type name of a collection, as in `Ethereum__Mainnet__Block`. */
export function typeName(network: string, collection: string): string {
  return `${network}__${collection}`
}

function checkPart(part: string, value: string, pattern: RegExp): void {
  if (value.length <= maxPartLength && pattern.test(value)) return
  const shown = value.slice(0, maxShown)
  throw new ServiceError(
    'PRIMITIVES_NAME_INVALID',
    `The ${part} name ${JSON.stringify(shown)} cannot be part of a type name.`,
    {
      facts: { part, value: shown },
      remedy: `Use letters, digits and single underscores, at most ${maxPartLength} characters, beginning with a letter.`,
    },
  )
}
