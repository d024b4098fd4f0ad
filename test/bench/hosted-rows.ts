/** A View at a Host program, and when its rows arrive at a subscriber. */
import { openEventReader } from '../graphql/support/event-reader.ts'
import { decodingView } from '../host/views/engine/support/engine-room.ts'
import { type Program, pause } from '../support/programs.ts'

/** With which a Host starts to which a View is posted. */
export const adminToken: string = 'a token of benchmarks'

interface PostedView {
  readonly id: string
  readonly name: string
}

/** Posts a View; returns both its names. */
export async function postWire(program: Program, wire: Uint8Array): Promise<PostedView> {
  const response = await fetch(viewsUrl(program), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${adminToken}` },
    body: JSON.stringify({ wire: Buffer.from(wire).toString('base64') }),
  })
  if (!response.ok) throw new Error(`the Host refuses the View: ${response.status}`)
  return (await response.json()) as PostedView
}

/** Posts the decoding View and waits until it has all blocks. */
export async function postView(program: Program): Promise<PostedView> {
  const posted = await postWire(program, decodingView().wire)
  const url = `${viewsUrl(program)}/${posted.id}`
  for (;;) {
    const { state } = (await (await fetch(url)).json()) as { readonly state: string }
    if (state === 'live') return posted
    await pause(100)
  }
}

function viewsUrl({ graphqlUrl }: Program): string {
  return graphqlUrl.replace('/graphql', '/views')
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
