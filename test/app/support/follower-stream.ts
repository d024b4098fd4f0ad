/** Streams of Hosts into a follower, and made-up blocks that come on them. */
import type { TestContext } from 'node:test'
import type { StreamListener } from '../../../src/app/follow/host-stream.ts'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import { until } from '../../support/p2p-room.ts'
import { createMadeChain, type MadeBlock, madeView, sdlOf } from './made-chain.ts'
import { madeExcerpt } from './made-host.ts'
import type { openTestFollower } from './test-follower.ts'

export type OpenedFollower = Awaited<ReturnType<typeof openTestFollower>>

interface Stream extends StreamListener {
  /** How often it was noted that the stream goes on. */
  readonly progress: { count: number }
  /** Hands on blocks, which the Host signs unless it is to be silent. */
  feed(blocks: readonly MadeBlock[], isSilent?: boolean): Promise<void>
  end(): void
}

interface ConnectOptions {
  readonly feeds?: readonly string[]
  readonly tail?: number | null
  readonly floor?: number
  readonly peer?: string
  /** How it describes the Views; by default as they are. */
  readonly sdl?: string
}

/** A stream of a Host, which was welcomed; it feeds `madeView` unless told otherwise. */
export async function connect(
  t: TestContext,
  { follower }: Pick<OpenedFollower, 'follower'>,
  host: DigestSigner,
  options: ConnectOptions = {},
): Promise<Stream> {
  const { feeds = [madeView], tail = 0, floor = 0, peer = host.identity, sdl } = options
  const ended = new AbortController()
  t.after(() => ended.abort())
  const progress = { count: 0 }
  const nothing = (): void => undefined
  const onProgress = (): void => void progress.count++
  const { views } = follower.opening({ peer, feeds: new Set(feeds), floor })
  const listener = follower.listener(
    { peer, signal: ended.signal, onWelcome: nothing, onProgress, onHead: nothing },
    views,
  )
  await listener.onWelcome({
    identity: host.identity,
    genesis: null,
    views: views.map(({ view }) => ({
      ...{ view, name: 'a name', sdl: sdl ?? sdlOf(view), state: 'live' },
      ...{ tail, head: null },
    })),
  })
  return {
    ...listener,
    progress,
    feed: async (blocks, isSilent = false) => {
      for (const block of blocks) {
        await listener.onBlock({ ...block, view: madeView })
        if (!isSilent) await listener.onStatement(madeExcerpt(block, host))
      }
    },
    end: () => ended.abort(),
  }
}

export function madeBlocks(count: number, from = 0): readonly MadeBlock[] {
  const chain = createMadeChain({ from })
  chain.grow(count)
  return chain.blocks()
}

/** Resolves once rows up to a height are stored, and that was reported. */
export async function storedTo({ follower, parts }: OpenedFollower, number: number): Promise<void> {
  await until(() => follower.progress(madeView).stored === number)
  await parts.inTurn(async () => undefined)
}
