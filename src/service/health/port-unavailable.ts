/** The error of an address that cannot be listened on. */
import { codeOf, ServiceError } from '../../errors.ts'
import type { Address } from '../settings/setting-kinds.ts'

/** An address to listen on, and where it comes from. */
export interface ListenAddress {
  readonly address: Address
  /** The setting to change when the address cannot be used: `HEALTH_ADDR`. */
  readonly setting: string
  /** How the address follows from the setting where it is not the one that is set. */
  readonly derivation?: string
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken by another program',
  EACCES: 'needs more rights than this user has',
  EADDRNOTAVAIL: 'does not belong to this machine',
  ENOTFOUND: 'is not a name this machine can resolve',
}

/** SERVICE_PORT_UNAVAILABLE with setting, address and reason. */
export function portUnavailable(listen: ListenAddress, cause: unknown): ServiceError {
  const { address, setting, derivation } = listen
  const { host, port } = address
  const code = codeOf(cause) ?? 'unknown'
  const reason = reasons[code] ?? `cannot be listened on (${code})`
  const subject = `the address ${host}:${port}`
  const message =
    derivation === undefined
      ? `${setting}: ${subject} ${reason}`
      : `${setting}: ${derivation}, and ${subject} ${reason}`
  return new ServiceError('SERVICE_PORT_UNAVAILABLE', message, {
    facts: { setting, host, port },
    remedy: `Stop the program that uses it, or set ${setting} to a free address.`,
    cause,
  })
}
