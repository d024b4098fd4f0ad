/**
 * Server-Sent Events (WHATWG HTML 9.2) in the framing of GraphQL over SSE, "distinct connections"
 * mode: `next` events with results, then one `complete`.
 */
import type { ServerResponse } from 'node:http'

/** A stream of events to one reader. */
export interface EventStream {
  /** Aborted when the reader is gone or the stream has ended. */
  readonly signal: AbortSignal
  /** Bytes that wait for the reader. */
  queuedBytes(): number
  /** Sends an event made by `nextEvent`; one buffer may go to many readers. */
  send(event: Buffer): void
  /**
   * Sends a comment: a first one says that the stream is open, later ones keep proxies from closing
   * an idle connection. Left out while something waits.
   */
  beat(): void
  /** Sends a last event, says that the stream is complete, and ends it. */
  end(event?: Buffer): void
}

/** Headers by name; those undefined are not sent. */
type Headers = Readonly<Record<string, string | number | string[] | undefined>>

/** How long a reader may take to read what is left when the stream ends. */
const endGraceMs = 5_000

const beatText = ':\n\n'
/** The empty data field makes a browser's EventSource dispatch the event. */
const completeText = 'event: complete\ndata:\n\n'

const streamHeaders: Headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** A `next` event with a result's JSON. */
export function nextEvent(json: string): Buffer {
  return Buffer.from(`event: next\ndata: ${json}\n\n`)
}

/** Makes a response a stream; the reader learns of it with the first thing that is sent. */
export function openEventStream(response: ServerResponse, headers: Headers): EventStream {
  const controller = new AbortController()
  response.once('close', () => controller.abort())
  response.on('error', () => response.destroy())
  for (const [name, value] of Object.entries({ ...headers, ...streamHeaders })) {
    if (value !== undefined) response.setHeader(name, value)
  }
  return {
    signal: controller.signal,
    queuedBytes: () => response.writableLength,
    send(event) {
      response.write(event)
    },
    beat() {
      if (response.writableLength === 0) response.write(beatText)
    },
    end(event) {
      controller.abort()
      if (event !== undefined) response.write(event)
      response.end(completeText)
      const cut = setTimeout(() => response.destroy(), endGraceMs)
      response.once('close', () => clearTimeout(cut))
    },
  }
}
