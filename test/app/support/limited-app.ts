/** An application whose store fails, as a program: `limited-app.ts '{"path": ...}'` says in a line how it stands then. */
import { type AppState, openApp } from '../../../src/app/app.ts'

export interface LimitedReport {
  readonly state: AppState
  /** What a query, a loop over a subscription and a wait end with. */
  readonly ends: readonly string[]
}

const app = await openApp(JSON.parse(process.argv[2] ?? ''))
await app.untilReady()
const waiting = Promise.allSettled([
  app.subscribe('subscription { Payment(filter: {to: {_eq: "nobody"}}) { to } }').next(),
  app.untilLive(),
])
const state = await new Promise<AppState>((resolve) => {
  app.onChange((now) => {
    if (now.failure !== null) resolve(now)
  })
})
const asked = await Promise.allSettled([app.query('{ Payment { to } }')])
const ends = [...asked, ...(await waiting)].map((result) =>
  result.status === 'rejected' ? String(result.reason) : 'well',
)
process.stdout.write(`${JSON.stringify({ state, ends } satisfies LimitedReport)}\n`)
await app.close()
