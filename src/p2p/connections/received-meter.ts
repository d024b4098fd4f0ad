/**
 * Reads from strangers' connections only as fast as their address may send, whatever they send: what
 * is not read stays with the sender, and no message is lost by it. Wraps encrypter and muxer, between
 * which the frames can be seen and the connection can be paused.
 */
import type {
  ConnectionEncrypter,
  MessageStream,
  SecuredConnection,
  StreamMuxer,
  StreamMuxerFactory,
} from '@libp2p/interface'
import type { Rates } from '../limits/rates.ts'
import type { Remote } from '../limits/remote.ts'
import { createFramePrice } from './frame-price.ts'

interface ReceivedMeterParts {
  readonly rates: Pick<Rates, 'owe'>
  remoteOf(peer: string): Remote
}

export interface ReceivedMeter {
  /** The encrypter, from which the meter knows whose connection it is. */
  encrypter(inner: ConnectionEncrypter): ConnectionEncrypter
  /** The muxer, each of whose connections gets the meter. */
  muxer(inner: StreamMuxerFactory): StreamMuxerFactory
}

/** `maxFrameBytes` is the largest window of a stream: no frame may hold more. */
export function createReceivedMeter(
  maxFrameBytes: number,
  { rates, remoteOf }: ReceivedMeterParts,
): ReceivedMeter {
  const owners = new WeakMap<MessageStream, string>()

  const owned = (secured: SecuredConnection): SecuredConnection => {
    owners.set(secured.connection, secured.remotePeer.toString())
    return secured
  }

  const attach = (connection: MessageStream, peer: string): void => {
    const priceOf = createFramePrice(maxFrameBytes)
    const holdBack = createHoldBack(connection)
    connection.addEventListener('message', ({ data }) => {
      let cost = 0
      for (const chunk of data instanceof Uint8Array ? [data] : data) {
        const price = priceOf(chunk)
        if (price === null) return connection.abort(new Error('a frame longer than any window'))
        cost += price
      }
      holdBack(rates.owe(remoteOf(peer), cost) ?? 0)
    })
  }

  return {
    encrypter: (inner) =>
      Object.create(inner, {
        secureInbound: {
          value: async (...args: Parameters<ConnectionEncrypter['secureInbound']>) =>
            owned(await inner.secureInbound(...args)),
        },
        secureOutbound: {
          value: async (...args: Parameters<ConnectionEncrypter['secureOutbound']>) =>
            owned(await inner.secureOutbound(...args)),
        },
      }),
    muxer: (inner) =>
      Object.create(inner, {
        createStreamMuxer: {
          value: (connection: MessageStream): StreamMuxer => {
            const muxer = inner.createStreamMuxer(connection)
            // Only now: a first listener of ours would take bytes before the muxer listens.
            const peer = owners.get(connection)
            if (peer !== undefined) attach(connection, peer)
            return muxer
          },
        },
      }),
  }
}

/** The function that pauses a connection for so many milliseconds. */
function createHoldBack(connection: MessageStream): (waitMs: number) => void {
  let timer: NodeJS.Timeout | undefined
  connection.addEventListener('close', () => clearTimeout(timer))
  return (waitMs) => {
    if (waitMs === 0) return
    // Not within the event that brought the bytes: a connection that resumes delivers what it kept
    // first, and would go on reading in spite of a pause in the middle of that.
    queueMicrotask(() => {
      clearTimeout(timer)
      whileOpen(connection, () => connection.pause())
      timer = setTimeout(() => whileOpen(connection, () => connection.resume()), waitMs).unref()
    })
  }
}

/** Pausing and resuming throw on a connection that is about to end, where neither matters any more. */
function whileOpen(connection: MessageStream, step: () => void): void {
  try {
    if (connection.status === 'open') step()
  } catch (error) {
    connection.abort(error instanceof Error ? error : new Error(String(error)))
  }
}
