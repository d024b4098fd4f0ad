/** An application as a process of its own, for `app-figures.ts`, which forks it with the options of `openApp`. */
import { openApp } from '../../src/app/app.ts'

process.once('disconnect', () => process.exit())
const options = JSON.parse(process.argv[2] ?? '{}')
const startMs = performance.now()
const app = await openApp(options)
await app.untilLive()
const liveMs = performance.now() - startMs
const [view] = app.state().views
process.send?.({ liveMs, rows: view?.rows })
const query = `subscription { ${view?.name}(filter: {logIndex: {_eq: 0}}) { number: _blockNumber } }`
for await (const rows of app.subscribe<Record<string, { number: number }[]>, object>(query)) {
  const atMs = performance.timeOrigin + performance.now()
  for (const { number } of Object.values(rows).flat()) process.send?.({ number, atMs })
}
