/** A Host's engine, row signer and followers over a real store, served to peers on loopback. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Registry } from 'prom-client'
import { type Followers, openFollowers } from '../../../../src/host/follow/followers.ts'
import type { FollowTimes } from '../../../../src/host/follow/session.ts'
import { openRowSigner, type RowSigner } from '../../../../src/host/row-votes/row-signer.ts'
import type { HostedView } from '../../../../src/host/views/hosted-view.ts'
import type { P2pLimits } from '../../../../src/p2p/limits/limits.ts'
import { testNetwork } from '../../../support/chain/sealed-blocks.ts'
import { metricValue } from '../../../support/metric-value.ts'
import { connect, openRoom, type TestRoom } from '../../../support/p2p-room.ts'
import { hostSigner } from '../../row-votes/support/signing-room.ts'
import { type EngineRoom, openEngineRoom } from '../../views/engine/support/engine-room.ts'
import { type FollowClient, openFollowClient } from './follow-client.ts'

export const proof: Uint8Array = Buffer.from('the proof of the Host')

export interface FollowRoom extends EngineRoom {
  readonly followers: Followers
  readonly server: TestRoom
  /** An application that is connected. */
  readonly application: TestRoom
  /** Computes and signs Views from now on. */
  serve(...views: readonly HostedView[]): void
  /** Lets a View be one of the Host that is not computed. */
  expect(view: HostedView): void
  /** Serves a View no longer. */
  drop(view: HostedView): void
  /** Signs what was not, and from now on. */
  beginSigning(): void
  follow(options: Parameters<typeof openFollowClient>[2]): Promise<FollowClient>
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
}

interface FollowSetup extends NonNullable<Parameters<typeof openEngineRoom>[1]> {
  readonly times?: Partial<FollowTimes>
  readonly limits?: Partial<P2pLimits>
  /** As in `RowSignerOptions`, here longer than any test. */
  readonly patienceMs?: number
  /** Whether the Host signs from the beginning. Default true. */
  readonly isSigning?: boolean
  /** What the Host signed is stored after that. Default at once. */
  readonly storing?: Promise<void>
}

/** Opens it without Views. */
export async function openFollowRoom(
  t: TestContext,
  {
    times = {},
    limits = {},
    patienceMs = 60_000,
    isSigning = true,
    storing,
    ...options
  }: FollowSetup = {},
): Promise<FollowRoom> {
  const registry = new Registry()
  const views: HostedView[] = []
  const opened: { followers: Followers; signer: RowSigner }[] = []
  const room = await openEngineRoom(t, {
    ...options,
    through: (writer, store) => {
      const signing = {
        ...writer,
        putRowStatement: async (
          ...[statement, outdated]: Parameters<Followers['writer']['putRowStatement']>
        ) => {
          await storing
          return await store.putRowStatements(statement.blockNumber, [statement], outdated)
        },
      }
      const { reader } = store
      const followers = openFollowers(
        { own: hostSigner.identity, times },
        { registry, reader, writer: signing },
      )
      const signer = openRowSigner(
        { network: testNetwork, patienceMs },
        {
          reader,
          writer: followers.writer,
          signer: hostSigner,
          metrics: { signed: () => undefined },
          onFatal: (error) => {
            throw error
          },
        },
      )
      opened.push({ followers, signer })
      return signer.writer
    },
  })
  const [{ followers, signer } = assert.fail('the engine is open')] = opened
  followers.begin({ kept: () => views, find: () => ({ state: 'live' }) })
  followers.setChain({ genesis: `0x${'0a'.repeat(32)}` })
  const beginSigning = (): void => signer.begin(() => views)
  let signs = isSigning
  if (signs) beginSigning()
  room.closeFirst(() => signer.close())
  const server = await openRoom(t, { channels: followers.channels(proof), limits })
  const application = await openRoom(t)
  await connect(application, server)
  room.closeFirst(() => followers.close())
  return {
    ...room,
    followers,
    server,
    application,
    serve: (...added) => {
      for (const view of added) {
        views.push(view)
        room.engine.serve(view)
      }
      if (signs) beginSigning()
    },
    beginSigning: () => {
      signs = true
      beginSigning()
    },
    expect: (view) => void views.push(view),
    drop: (view) => void views.splice(views.indexOf(view), 1),
    follow: (wanted) => openFollowClient(application, server.id, wanted),
    metric: (name, labels = {}) => metricValue(registry, name, labels),
  }
}
