/** A View at a Host program, and when its rows arrive at a subscriber. */
import { openEventReader } from '../graphql/support/event-reader.ts'
import { decodingView } from '../host/views/support/engine-room.ts'
import { type Program, pause } from '../support/programs.ts'

/** With which a Host starts to which a View is posted. */
export const adminToken: string = 'a token of benchmarks'

/** Posts the decoding View and waits until it has all blocks; returns both its names. */
export async function postView({ graphqlUrl }: Program): Promise<{
  readonly id: string
  readonly name: string
}> {
  const url = graphqlUrl.replace('/graphql', '/views')
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${adminToken}` },
    body: JSON.stringify({ wire: Buffer.from(decodingView().wire).toString('base64') }),
  })
  const { id, name } = (await response.json()) as { readonly id: string; readonly name: string }
  if (!response.ok) throw new Error(`the Host refuses the View: ${response.status}`)
  for (;;) {
    const { state } = (await (await fetch(`${url}/${id}`)).json()) as { readonly state: string }
    if (state === 'live') return { id, name }
    await pause(100)
  }
}

/** When documents of blocks arrive at a subscriber, by the clock that all processes share. */
export async function openArrivals(
  { graphqlUrl }: Program,
  selection: string,
): Promise<{ next(number: number): Promise<number>; close(): void }> {
  const query = `subscription ${selection}`
  const headers = { accept: 'text/event-stream' }
  const reader = await openEventReader(graphqlUrl, { query }, { headers })
  return {
    close: reader.close,
    async next(number) {
      for (;;) {
        const event = await reader.next()
        if (event === undefined) throw new Error('the subscription has ended')
        if (JSON.stringify(event.data).includes(`"number":${number}}`))
          return performance.timeOrigin + performance.now()
      }
    },
  }
}
