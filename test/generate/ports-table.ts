/** The table of default ports of Generator and Host. */
import { ports } from '../../src/service/contract.ts'
import { table } from './table.ts'

/** Every port of the contract with what is served there. */
export function portsTable(): string {
  return table(
    ['Port', 'Program', 'Serves'],
    [
      [`${ports.api}`, 'both', 'GraphQL'],
      [`${ports.playground}`, 'Host', 'playground'],
      [`${ports.p2p}`, 'both', 'libp2p; the one that other machines must reach'],
      [`${ports.health}`, 'both', 'health and metrics; the schema endpoint of the Generator'],
      [`${ports.publicHealth}`, 'both', '/health alone, where `HEALTH_PUBLIC_ADDR` asks for it'],
    ],
  )
}
