/** Views that no block of the benchmarks has anything for. */
import { readFileSync } from 'node:fs'
import type { HostedView } from '../../src/host/views/hosted-view.ts'
import { hostedView } from '../host/views/support/engine-room.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

const decodeLog = readFileSync(new URL('../../src/lenses/decode_log.wasm', import.meta.url))
const sdl = 'type Unmatched { address: String }'
const fields = '{ address topics data }'

/** A View that wants an address, or an event, that no block has. */
export function unmatchedView(number: number): HostedView {
  const slot = 10 + number
  const address = createSeededRandom(`unmatched:${number}`).hex(20)
  if (number % 2 === 0)
    return hostedView({ slot, query: `Log(filter: {address: {_eq: "${address}"}}) ${fields}`, sdl })
  const abi = [{ type: 'event', name: `Unmatched${number}`, inputs: [] }]
  const args = JSON.stringify({ abi, unmatched: 'drop' })
  return hostedView({ slot, query: `Log ${fields}`, sdl, lenses: [decodeLog], args })
}
