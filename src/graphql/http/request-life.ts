/**
 * The lifetime of a request: until its response is closed or its connection ends, whichever comes
 * first. Responses that wait behind others of their connection get no event when it ends, so the
 * connection's own `close` is used.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { invariant } from '../../errors.ts'
import type { MemoryAccount, MemoryPool } from '../budget/memory-pool.ts'

/** One request while it lives. */
interface RequestLife {
  /** What it holds; closed at its end. */
  readonly account: MemoryAccount
  /** Aborted when the client disconnects before its answer was sent. */
  readonly signal: AbortSignal
}

/** The requests that live. */
export interface RequestLives {
  begin(request: IncomingMessage, response: ServerResponse): void
  /** The life of a request that has begun. */
  of(request: IncomingMessage): RequestLife
}

/** No requests yet. */
export function createRequestLives(memory: MemoryPool): RequestLives {
  const lives = new WeakMap<IncomingMessage, RequestLife>()
  const open = new WeakMap<Socket, Set<() => void>>()
  const endsOf = (socket: Socket): Set<() => void> => {
    const known = open.get(socket)
    if (known !== undefined) return known
    const ends = new Set<() => void>()
    open.set(socket, ends)
    socket.once('close', () => {
      for (const end of ends) end()
    })
    return ends
  }
  const begin = (request: IncomingMessage, response: ServerResponse): RequestLife => {
    const account = memory.openAccount()
    const controller = new AbortController()
    const life = { account, signal: controller.signal }
    const ends = endsOf(request.socket)
    const end = (): void => {
      ends.delete(end)
      account.close()
      if (!response.writableFinished) controller.abort()
    }
    ends.add(end)
    response.once('close', end)
    lives.set(request, life)
    return life
  }
  return {
    begin: (request, response) => void begin(request, response),
    of(request) {
      const life = lives.get(request)
      invariant(life !== undefined, 'a request has begun before it is handled')
      return life
    },
  }
}
