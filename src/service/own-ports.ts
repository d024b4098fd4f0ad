/** The addresses a program listens on must differ: it would otherwise stand in its own way. */
import { isIPv6 } from 'node:net'
import type { CommonSettings } from './common-settings.ts'
import { tcpAddress } from './preflight.ts'
import type { Address } from './setting-kinds.ts'

/** What listens, as in `db.url (DB_API_ADDR)`, and where. */
export type Listener = readonly [name: string, address: Address]

/** What every program listens on. */
export function commonListeners(settings: CommonSettings): readonly Listener[] {
  const { publicHealthAddress } = settings
  return [
    ['db.url (DB_API_ADDR)', settings.apiAddress],
    ['db.p2p.listen_addr (DB_P2P_LISTEN_ADDR)', tcpAddress(settings.p2pListen)],
    ['health.addr (HEALTH_ADDR)', settings.healthAddress],
    ...(publicHealthAddress === null
      ? []
      : [['health.public_addr (HEALTH_PUBLIC_ADDR)', publicHealthAddress] as const]),
  ]
}

/** One mistake, naming both, for each two listeners that want the same port. */
export function portCollisions(listeners: readonly Listener[]): string[] {
  return listeners.flatMap(([name, address], index) =>
    listeners
      .slice(index + 1)
      .filter(([, other]) => isSame(address, other))
      .map(
        ([otherName, other]) =>
          `${name} at ${textOf(address)} and ${otherName} at ${textOf(other)} want the same port; accepted is one of its own for each`,
      ),
  )
}

function isSame(a: Address, b: Address): boolean {
  if (a.port === 0 || a.port !== b.port) return false
  return a.host === b.host || covers(a.host, b.host) || covers(b.host, a.host)
}

/** `::` takes IPv4 as well. */
function covers(wildcard: string, host: string): boolean {
  return wildcard === '::' || (wildcard === '0.0.0.0' && !isIPv6(host))
}

const textOf = ({ host, port }: Address): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
