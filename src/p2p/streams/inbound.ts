/** Lets us see the streams that peers open to a protocol of libp2p's own before its handler does. */
import type { GossipSubComponents } from '@libp2p/gossipsub'
import type { Connection, Stream, StreamHandler } from '@libp2p/interface'

type Registrar = GossipSubComponents['registrar']

/** What becomes of an inbound stream; `next` hands it, or another in its place, to the handler. */
export type Intercept = (
  stream: Stream,
  connection: Connection,
  next: StreamHandler,
) => void | Promise<void>

/** The registrar, but with each inbound stream of an open connection led through `intercept`. */
export function withIntercept(registrar: Registrar, intercept: Intercept): Registrar {
  return Object.create(registrar, {
    handle: {
      value: (...[protocol, handler, options]: Parameters<Registrar['handle']>) =>
        registrar.handle(
          protocol,
          (stream, connection) => {
            // Negotiating takes its time; who is gone by now would never be forgotten by the handler.
            if (connection.status !== 'open') return stream.abort(new Error('too late'))
            return intercept(stream, connection, handler)
          },
          options,
        ),
    },
  })
}
