/** Checks that the addresses a program listens on do not collide. */
import { isIPv6 } from 'node:net'
import type { CommonSettings } from './common-settings.ts'
import type { Address } from './setting-kinds.ts'

/** What listens, as in `db.url (DB_API_ADDR)`, and where. */
type Listener = readonly [name: string, address: Address]

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

/** One problem, naming both, for each two listeners that want the same port. */
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

/** The address of a multiaddr such as `/ip4/0.0.0.0/tcp/9171`. */
export function tcpAddress(multiaddr: string): Address {
  const [, , host = '', , port = ''] = multiaddr.split('/')
  return { host, port: Number(port) }
}
