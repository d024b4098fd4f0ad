import { openTestGraphql } from '../../graphql/support/graphql-room.ts'
import { decodingView } from '../../host/views/support/engine-room.ts'
import { watchedAddresses } from '../../support/chain/block-factory.ts'
import { fullBlocks, isLive, openViewRoom } from './view-room.ts'
const blocks = fullBlocks(360)
const [room, close] = await openViewRoom()
await room.put(blocks)
blocks.length = 0
const view = decodingView()
room.engine.serve(view)
await room.until(view, isLive)
const graphql = openTestGraphql(room.store.reader)
const served = new Promise<void>((resolve) => void graphql.onViews(resolve))
graphql.setViews([view]); await served
let turn = 0
const q = (c: string, h: string, f: string) => `query ($address: String!) {
      rows: ${c}(filter: {address: {_eq: $address}}, order: {${h}: DESC}, limit: 50) { ${f} }
    }`
const L = q('Log', 'blockNumber', 'address topics data logIndex transaction { hash }'), R = q(view.name, '_blockNumber', 'address event arguments logIndex hash')
const mode = process.argv[2]
async function loop(n: number) {
  const res = { L: 0, R: 0 }
  for (let i = 0; i < n; i++) for (const [k, query] of [['L', L], ['R', R]] as const) {
    if (mode && mode !== k) continue
    const address = watchedAddresses[turn++ % watchedAddresses.length]
    const c = performance.now()
    await graphql.execute({ query, variables: { address } })
    res[k] += performance.now() - c
  }
  return [(res.L / n).toFixed(3), (res.R / n).toFixed(3)]
}
await loop(400)
const r0 = (globalThis as any).reads; await loop(100); console.log('reads a query', ((globalThis as any).reads - r0) / 100)
if (!mode) for (let i = 0; i < 5; i++) console.log(await loop(400))
else { const { Session } = await import('node:inspector/promises'); const s = new Session(); s.connect(); await s.post('Profiler.enable'); await s.post('Profiler.setSamplingInterval', { interval: 100 }); await s.post('Profiler.start'); console.log(await loop(2000)); const { profile } = await s.post('Profiler.stop'); (await import('node:fs')).writeFileSync('/tmp/h/q-' + mode + '.cpuprofile', JSON.stringify(profile)) }
await close()
process.exit(0)
