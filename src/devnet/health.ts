/** Reads the health endpoints of the programs we started. */
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import { membersOf } from '../json-object.ts'
import { type HealthReport, paths } from '../service/contract.ts'

const stepMs = 100
const requestTimeoutMs = 2_000
const startTimeoutMs = 60_000

/** The health report of the program at `baseUrl`; null while it does not respond. */
export async function readHealth(baseUrl: string): Promise<HealthReport | null> {
  try {
    const response = await fetch(`${baseUrl}${paths.health}`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(requestTimeoutMs),
    })
    const report: object = membersOf(await response.json())
    return 'p2p' in report ? (report as HealthReport) : null
  } catch {
    return null
  }
}

/** Waits for the peer ID of a program that was just started. Throws DEVNET_START_TIMEOUT. */
export async function waitForPeerId(baseUrl: string, signal: AbortSignal): Promise<string> {
  const endMs = performance.now() + startTimeoutMs
  while (performance.now() < endMs) {
    const id = (await readHealth(baseUrl))?.p2p.self?.id
    if (id !== undefined) return id
    await delay(stepMs, undefined, { signal })
  }
  throw new ServiceError('DEVNET_START_TIMEOUT', `no peer ID at ${baseUrl}${paths.health}`, {
    facts: { seconds: startTimeoutMs / 1_000 },
    remedy: 'Read the log of the Generator; its folder is printed above.',
  })
}
