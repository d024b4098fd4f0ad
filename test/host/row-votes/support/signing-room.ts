/** The engine of Views over a real store, with what it stores being signed. */
import type { TestContext } from 'node:test'
import { openRowSigner, type RowSigner } from '../../../../src/host/row-votes/row-signer.ts'
import type { HostedView } from '../../../../src/host/views/hosted-view.ts'
import type { DigestSigner } from '../../../../src/identity/signature.ts'
import type { RowStatement } from '../../../../src/row-votes/row-statement.ts'
import { testNetwork, testSigner } from '../../../support/chain/sealed-blocks.ts'
import { type EngineRoom, openEngineRoom } from '../../views/engine/support/engine-room.ts'

/** The key of the Host. */
export const hostSigner: DigestSigner = testSigner('the Host')

export interface SigningRoom extends EngineRoom {
  /** Serves Views and signs them, those before them included. */
  serve(...views: readonly HostedView[]): void
  /** Lets a View be one of the Host that is not computed. */
  expect(view: HostedView): void
  /** Whether each signature was the first of its block. */
  readonly signed: ('first' | 'further')[]
  /** Waits until so many were made. */
  untilSigned(count: number): Promise<void>
  /** What is stored of all Hosts at a height. */
  statements(height: number): readonly RowStatement[]
}

/** Opens it without Views; `patienceMs` as in `RowSignerOptions`, here by default longer than any test. */
export async function openSigningRoom(
  t: Pick<TestContext, 'after'>,
  { path, patienceMs = 60_000 }: { readonly path?: string; readonly patienceMs?: number } = {},
): Promise<SigningRoom> {
  const signed: ('first' | 'further')[] = []
  const views: HostedView[] = []
  const waiting = new Set<() => void>()
  const opened: RowSigner[] = []
  const room = await openEngineRoom(t, {
    ...(path !== undefined && { path }),
    through: (writer, store) => {
      const signer = openRowSigner(
        { network: testNetwork, patienceMs },
        {
          reader: store.reader,
          writer: {
            ...writer,
            putRowStatement: (statement, outdated) =>
              store.putRowStatements(statement.blockNumber, [statement], outdated),
          },
          signer: hostSigner,
          metrics: {
            signed: (kind) => {
              signed.push(kind)
              for (const look of waiting) look()
            },
          },
          onFatal: (error) => {
            throw error
          },
        },
      )
      opened.push(signer)
      return signer.writer
    },
  })
  const [signer] = opened
  if (signer !== undefined) room.closeFirst(() => signer.close())
  signer?.begin(() => views)
  return {
    ...room,
    signed,
    expect: (view) => void views.push(view),
    serve: (...added) => {
      for (const view of added) {
        views.push(view)
        room.engine.serve(view)
      }
      // As after a restart: what is stored is looked at again.
      signer?.begin(() => views)
    },
    untilSigned: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (signed.length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    statements: (height) => room.store.reader.read((snapshot) => snapshot.rowStatements(height)),
  }
}
