/** What tests of following the registry chain follow it with, and what they have it meet. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Registry } from 'prom-client'
import { type WebSocket, WebSocketServer } from 'ws'
import { followRegistry, type RegistryFollower } from '../../../src/registry/follow.ts'
import type { ListedView, RefusedView } from '../../../src/registry/listed-view.ts'
import { createRegistryMetrics } from '../../../src/registry/metrics.ts'
import { verifyView } from '../../../src/registry/verify-view.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { captureLog } from '../../support/captured-log.ts'

/** Who registers Views. */
export const sender: string = `0x${'11'.repeat(20)}`
/** Wire bytes of a View with this name. */
export const wireOf = (name: string): Uint8Array =>
  encodeView({ query: 'Log { address }', sdl: `type ${name} { address: String }`, lenses: [] })

interface Followed {
  readonly follower: RegistryFollower
  readonly metrics: Registry
  readonly lines: ReturnType<typeof captureLog>
  readonly sent: string[]
  readonly refused: RefusedView[]
  /** How many lists have ended. */
  ended(): number
  /** Resolves once Views of these IDs were passed on, by a list or an event. */
  arrived(...ids: readonly string[]): Promise<void>
}

/** Follows the chain at these URLs until the test is over, with short pauses. */
export function follow(
  t: TestContext,
  urls: { lcdUrl: string; cometUrl: string | null },
  listIntervalMs = 60_000,
  onListed?: (views: readonly ListedView[]) => void,
): Followed {
  const known = new Map<string, ListedView>()
  const waiting = new Set<() => void>()
  const sent: string[] = []
  const refused: RefusedView[] = []
  const lines = captureLog()
  const metrics = new Registry()
  let ended = 0
  const note = (views: readonly ListedView[]): void => {
    const fresh = views.filter(({ id }) => !known.has(id))
    for (const view of fresh) known.set(view.id, view)
    for (const check of waiting) check()
  }
  const retry = { minMs: 10, maxMs: 100 }
  const follower = followRegistry(
    {
      lcdUrl: urls.lcdUrl,
      rpcUrl: urls.cometUrl,
      timings: { listIntervalMs, timeoutMs: 5_000, retry },
    },
    {
      log: lines.log,
      metrics: createRegistryMetrics(metrics),
      onListed: onListed ?? note,
      onListEnd: () => {
        ended += 1
      },
      onSent: (view) => {
        sent.push(view.id)
        verifyView(view)
        note([view])
      },
      onRefused: (view) => refused.push(view),
    },
  )
  t.after(() => follower.close())
  const arrived = (...ids: readonly string[]): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (ids.every((id) => known.has(id))) resolve()
      }
      waiting.add(check)
      check()
    })
  return { follower, metrics, lines, sent, refused, arrived, ended: () => ended }
}

interface LcdBefore {
  /** What the test changes, how often it was asked, and how many pages wait for the gate. */
  readonly lcd: {
    status: number | null
    gate: Promise<void>
    requests: number
    waiting: number
  }
  readonly url: string
}

/**
 * Passes requests on to an LCD, those for pages once the gate is open, or answers with another status; with null it
 * answers nothing.
 */
export async function openLcdBefore(t: TestContext, lcdUrl: string): Promise<LcdBefore> {
  const lcd: LcdBefore['lcd'] = { status: 200, gate: Promise.resolve(), requests: 0, waiting: 0 }
  const server = createServer(async (request, response) => {
    lcd.requests += 1
    if (lcd.status === null) return
    if (lcd.status !== 200) {
      response.writeHead(lcd.status, { 'retry-after': '300' }).end()
      return
    }
    lcd.waiting += 1
    if (request.url?.includes('pagination')) await lcd.gate
    lcd.waiting -= 1
    try {
      const answer = await fetch(`${lcdUrl}${request.url}`)
      response.writeHead(answer.status).end(await answer.text())
    } catch {
      response.destroy()
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { lcd, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

interface Comet {
  readonly cometUrl: string
  /** Subscriptions, by the IDs of their requests. */
  readonly subscribed: readonly { readonly id: unknown; readonly socket: WebSocket }[]
}

/** A consensus RPC that confirms all subscriptions. */
export async function openComet(t: TestContext): Promise<Comet> {
  const server = createServer()
  const node = new WebSocketServer({ server, path: '/websocket', maxPayload: 1024 * 1024 })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    node.close()
    server.close()
  })
  const subscribed: { readonly id: unknown; readonly socket: WebSocket }[] = []
  node.on('connection', (socket: WebSocket) =>
    socket.on('message', (data: Buffer) => {
      const { id } = JSON.parse(String(data))
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
      subscribed.push({ id, socket })
    }),
  )
  const cometUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { subscribed, cometUrl }
}
