/**
 * Server-Sent Events (WHATWG HTML 9.2) in the framing of GraphQL over SSE, "distinct connections"
 * mode: `next` events with results, then one `complete`.
 */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A stream of events to one reader. */
export interface EventStream {
  /** Aborted when the reader disconnects or the stream ends. */
  readonly signal: AbortSignal
  /** Bytes that wait for the reader. */
  queuedBytes(): number
  /**
   * Sends an event made by `nextEvent`; one buffer may go to many readers. `onTaken` is called once
   * nothing of it waits any longer, also when the reader disconnects.
   */
  send(event: Buffer, onTaken?: () => void): void
  /**
   * Sends a comment: the first one shows that the stream is open, later ones keep proxies from closing
   * an idle connection. Sends none while something waits.
   */
  beat(): void
  /** Sends a last event and `complete`, and ends the stream. */
  end(event?: Buffer): void
  /** The same with a result's JSON in pieces, as the reader takes them. */
  endWith(pieces: Iterable<string>): void
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

const nextStart = 'event: next\ndata: '
const nextEnd = '\n\n'

/** A `next` event with a result's JSON. */
export function nextEvent(json: string): Buffer {
  return Buffer.from(nextStart + json + nextEnd)
}

function* lastEvent(pieces: Iterable<string>): Generator<string> {
  yield nextStart
  yield* pieces
  yield nextEnd + completeText
}

/** Bytes written at once, so that it shows how far a reader is. */
const writtenBytes = 64 * 1024

/** Makes a response a stream; its headers are sent with the first event or comment. */
export function openEventStream(response: ServerResponse, headers: Headers): EventStream {
  const controller = new AbortController()
  const untaken = new Set<() => void>()
  response.once('close', () => {
    controller.abort()
    for (const isTaken of untaken) isTaken()
  })
  response.on('error', () => response.destroy())
  for (const [name, value] of Object.entries({ ...headers, ...streamHeaders })) {
    if (value !== undefined) response.setHeader(name, value)
  }
  return {
    signal: controller.signal,
    queuedBytes: () => response.writableLength,
    send(event, onTaken = () => undefined) {
      const isTaken = (): void => {
        if (untaken.delete(isTaken)) onTaken()
      }
      untaken.add(isTaken)
      const last = event.length - writtenBytes
      let at = 0
      for (; at < last; at += writtenBytes) response.write(event.subarray(at, at + writtenBytes))
      response.write(event.subarray(at), isTaken)
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
    endWith(pieces) {
      pipeline(Readable.from(lastEvent(pieces)), response).catch(() => response.destroy())
    },
  }
}
