/** What is used of `ws`, which comes without types. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events'
  import type { Server } from 'node:http'

  export class WebSocket extends EventEmitter {
    onclose: (() => void) | null
    onerror: ((event: unknown) => void) | null
    send(data: string | Uint8Array): void
    close(code?: number): void
    terminate(): void
  }

  export class WebSocketServer extends EventEmitter {
    constructor(options: {
      readonly server: Server
      readonly path: string
      readonly maxPayload: number
    })
    readonly clients: ReadonlySet<WebSocket>
    close(): void
  }
}
