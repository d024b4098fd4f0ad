/** Hosts that say what a test lets them say, over channels in memory: whom an application asks, for what and how often. */
import type { HostLinks } from '../../../src/app/follow/host-links.ts'
import type { LinkParts } from '../../../src/app/follow/link-state.ts'
import { ServiceError } from '../../../src/errors.ts'
import { encodeHostFrame, type HostFrame, notServedState } from '../../../src/follow/host-frames.ts'
import { decodeApplicationFrame, type OpenFrame } from '../../../src/follow/open-frames.ts'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import { proveIdentity } from '../../../src/mesh/identity-proof.ts'
import type { Channel } from '../../../src/p2p/streams/channels.ts'
import { testNetwork, until } from '../../support/p2p-room.ts'
import { sdlOf } from './made-chain.ts'

/** A stream that the application opened. */
interface Wire {
  readonly open: OpenFrame
  readonly isEnded: () => boolean
  send(frame: HostFrame): void
  /** Says who it is, and that it has the Views that it is asked for, but for those that it lacks. */
  welcome(has?: WelcomeOptions): void
  /** The connection breaks. */
  break(): void
}

interface WelcomeOptions {
  readonly tail?: number | null
  readonly head?: number | null
  readonly lacks?: readonly string[]
}

export interface HostWires {
  readonly p2p: LinkParts['p2p']
  readonly penalised: readonly string[]
  /** What lasts about peers that are not reached. */
  readonly failures: ServiceError[]
  /** A peer is in reach from now on, or not any more. */
  connect(peer: string): void
  disconnect(peer: string): void
  /** How many wait for a peer. */
  waiting(): number
  /** Streams to a peer, the first first. */
  to(peer: string): readonly Wire[]
  /** The stream of this number to a peer, from 1, as soon as it is opened. */
  wire(peer: string, number?: number): Promise<Wire>
}

/** `signers` are the keys of the Hosts, by their peer IDs. */
export function createHostWires(signers: Readonly<Record<string, DigestSigner>>): HostWires {
  const wires = new Map<string, Wire[]>()
  const inReach = new Set<string>()
  const listeners = new Set<Parameters<LinkParts['p2p']['onPeer']>[0]>()
  const penalised: string[] = []
  const failures: ServiceError[] = []
  const to = (peer: string): readonly Wire[] => wires.get(peer) ?? []
  const emit = (type: 'connected' | 'disconnected', peer: string): void => {
    for (const listener of [...listeners]) listener({ type, peer, announced: null })
  }
  const record = { announced: null, lastAnnouncement: null, verified: false, score: 0 }
  return {
    ...{ penalised, failures, to },
    p2p: {
      openChannel: async (peer, _name, _options, signal) => {
        const signer = signers[peer]
        if (signer === undefined) throw new Error('it is no Host')
        const channel = createWire(peer, signer, (wire) => wires.set(peer, [...to(peer), wire]))
        signal.addEventListener('abort', () => channel.abort(new Error('it is called off')))
        return channel
      },
      penalise: (peer) => void penalised.push(peer),
      peers: () =>
        [...inReach].map((id) => ({
          ...{ ...record, id, addresses: [], subscribed: false, bootstrap: true },
        })),
      onPeer: (listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      failures: () => failures,
    },
    connect: (peer) => {
      inReach.add(peer)
      emit('connected', peer)
    },
    disconnect: (peer) => {
      inReach.delete(peer)
      emit('disconnected', peer)
    },
    waiting: () => listeners.size,
    wire: async (peer, number = 1) => {
      await until(() => to(peer).length >= number)
      const wire = to(peer)[number - 1]
      if (wire === undefined) throw new Error('it was there')
      return wire
    },
  }
}

/** `onOpen` gets the stream once the application said what it is to bring. */
function createWire(peer: string, signer: DigestSigner, onOpen: (wire: Wire) => void): Channel {
  const ended = new AbortController()
  const frames: HostFrame[] = []
  let changed = Promise.withResolvers<void>()
  const change = (): void => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const abort = (error: Error): void => {
    ended.abort(error)
    change()
  }
  const send = (frame: HostFrame): void => {
    frames.push(frame)
    change()
  }
  const wireOf = (open: OpenFrame): Wire => ({
    open,
    isEnded: () => ended.signal.aborted,
    send,
    welcome: ({ tail = 0, head = null, lacks = [] } = {}) =>
      send({
        kind: 'welcome',
        proof: proveIdentity(signer, { network: testNetwork, role: 'host', peerId: peer }),
        genesis: null,
        views: open.views.map(({ view }) =>
          lacks.includes(view)
            ? { view, name: '', sdl: '', tail: null, head: null, state: notServedState }
            : { view, name: 'a name', sdl: sdlOf(view), tail, head, state: 'live' },
        ),
      }),
    break: () => abort(new ServiceError('P2P_CHANNEL_FAILED', 'the stream broke', { remedy: '' })),
  })
  return {
    ended: ended.signal,
    read: async () => {
      while (frames.length === 0) {
        ended.signal.throwIfAborted()
        await changed.promise
      }
      const [frame] = frames.splice(0, 1)
      if (frame === undefined) throw new Error('there was one')
      return encodeHostFrame(frame)
    },
    write: async (bytes) => {
      const frame = decodeApplicationFrame(bytes)
      if (frame.kind === 'open') onOpen(wireOf(frame))
    },
    close: async () => undefined,
    abort,
  }
}

/** How a link stands. */
export function reportOf(links: HostLinks, peer: string): ReturnType<HostLinks['reports']>[number] {
  const report = links.reports().find((each) => each.peer === peer)
  if (report === undefined) throw new Error(`${peer} is not followed`)
  return report
}
