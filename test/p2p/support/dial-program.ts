/**
 * A peer that dials the address it is given and says, as JSON, the first thing it has to say about
 * that. A program of its own, so that a test can start it in a network of its own.
 */
import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { Registry } from 'prom-client'
import { openP2p } from '../../../src/p2p/p2p.ts'
import { captureLog } from '../../support/captured-log.ts'
import { metricValue } from '../../support/metric-value.ts'

export interface DialReport {
  readonly causes: string
  readonly remedy: string
  /** How many failed dials were counted as `no route`. */
  readonly noRoute: number
}

const captured = captureLog()
const registry = new Registry()
const p2p = await openP2p(
  {
    peerSeed: randomBytes(32),
    listen: [],
    bootstrapPeers: process.argv.slice(2),
    network: 'Local__Devnet',
  },
  {
    log: captured.log,
    registry,
    source: { range: () => null, heights: () => [], sealedBlock: () => null },
    handlers: { identity: () => null, votes: () => null },
  },
)
const { causes, remedy } = await captured.line('all dials failed')
const reason = { reason: 'no route' }
const noRoute = await metricValue(registry, 'viewmesh_p2p_dial_failures_total', reason)
process.stdout.write(`${JSON.stringify({ causes, remedy, noRoute })}\n`)
await p2p.close()
