/** A reporter of `node:test` that ends a test file at its first failure: with a change in place, more of them say nothing new. */
import { inspect } from 'node:util'

/** What `node:test` says of a test that has ended. */
interface TestEvent {
  readonly type: string
  readonly data: {
    readonly name?: string
    readonly details?: { readonly passed?: boolean; readonly error?: unknown }
    readonly todo?: boolean | string
    readonly skip?: boolean | string
  }
}

/** Ends the process with code 1 once the failure is written. */
// biome-ignore lint/style/noDefaultExport: by which node:test takes a reporter.
export default async function* (events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    const { name, details, todo, skip } = data
    if (type !== 'test:complete' || details?.passed !== false) continue
    if (todo !== undefined || skip !== undefined) continue
    process.stdout.write(`${name}\n${inspect(details.error, { depth: 6 })}\n`, () =>
      process.exit(1),
    )
    return
  }
}
