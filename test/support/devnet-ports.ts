/** Where a development chain of a test listens. */
import { listeningPorts, loadDevnetSettings } from '../../src/devnet/config.ts'
import { freePorts } from './free-port.ts'

/** Settings that move every port to one that is free. */
export async function otherPorts(): Promise<Record<string, string>> {
  const documented = listeningPorts(loadDevnetSettings({ argv: [], env: {} }))
  const names = [...new Set(documented.map(([name]) => name))]
  const ports = await freePorts(names.length)
  return Object.fromEntries(names.map((name, index) => [name, String(ports[index])]))
}
