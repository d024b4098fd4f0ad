/**
 * A stand-in for the registry chain, for development and tests: what Hosts and the toolkit ask of that chain is answered as
 * the real one answers it, by programs of this machine. It proves nothing and nobody else sees it.
 */
import { checksumAddress } from '../../primitives/checksum-address.ts'
import { viewIDs } from '../../views/view-id.ts'
import { openCometFace } from './comet-face.ts'
import { openLcdFace } from './lcd-face.ts'
import { type ChainView, createLedger } from './ledger.ts'

interface RegistryOptions {
  readonly lcdPort?: number
  readonly cometPort?: number
}

/** Views of one transaction with what becomes of them. */
interface Settlement {
  readonly registered?: readonly string[]
  readonly failed?: readonly string[]
  readonly timedOut?: readonly string[]
}

/** The running stand-in. */
export interface DevelopmentRegistry {
  readonly lcdUrl: string
  /** CometBFT over HTTP; the WebSocket is at `/websocket`. */
  readonly cometUrl: string
  readonly chainId: number
  /** Registers wire bytes as `sender`, pending; returns the View's address. */
  register(sender: string, wire: Uint8Array): Promise<string>
  /** Ends the waiting of pending Views, by address, all in one transaction. */
  settle(settlement: Settlement): Promise<void>
  /** Serves a registered View as given, whether or not it could be registered. */
  plant(view: ChainView): void
  close(): Promise<void>
}

/** Chain ID of a registry chain on one machine. */
const localChainId = 91273003

/** Opens the stand-in; ports that are not given are any free ones. */
export async function openDevelopmentRegistry(
  options: RegistryOptions = {},
): Promise<DevelopmentRegistry> {
  const ledger = createLedger()
  let height = 1
  const lcd = await openLcdFace(options.lcdPort ?? 0, ledger)
  const comet = await openCometFace(options.cometPort ?? 0, {
    ledger,
    chainId: localChainId,
    height: async () => height,
  })
  return {
    lcdUrl: lcd.url,
    cometUrl: comet.url,
    chainId: localChainId,
    async register(sender, wire) {
      height += 1
      const { address } = viewIDs(sender, wire)
      const name = /^[ \t]*type[ \t]+([A-Za-z0-9_]+)\b/m.exec(Buffer.from(wire).toString('latin1'))
      const creator = checksumAddress(sender.toLowerCase())
      const view = { address, creator, name: name?.[1] ?? '', height, wire }
      ledger.add({ height, id: `register ${height}`, steps: [{ kind: 'pending', view }] })
      return address
    },
    async settle({ registered = [], failed = [], timedOut = [] }) {
      height += 1
      const found = (addresses: readonly string[]): ChainView[] =>
        ledger.pending().filter(({ address }) => addresses.includes(address))
      const steps = [
        ...found(registered).map((view) => ({ kind: 'registered', view }) as const),
        ...found(failed).map(
          (view) =>
            ({ kind: 'failed', view, error: 'ABCI code: 1: error handling packet' }) as const,
        ),
        ...found(timedOut).map(
          (view) => ({ kind: 'timed_out', view, error: 'ICA packet timed out' }) as const,
        ),
      ]
      ledger.add({ height, id: `settle ${height}`, steps })
    },
    plant(view) {
      height += 1
      ledger.add({ height, id: `plant ${height}`, steps: [{ kind: 'registered', view }] })
    },
    async close() {
      await Promise.all([lcd.close(), comet.close()])
    },
  }
}
