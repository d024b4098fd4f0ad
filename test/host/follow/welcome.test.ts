/** The welcome of a Host: in as few frames as the SDLs of the Views fit into. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followLimits } from '../../../src/follow/follow-limits.ts'
import { encodeHostFrame, type WelcomedView } from '../../../src/follow/host-frames.ts'
import { welcomeFrames } from '../../../src/host/follow/welcome.ts'
import { viewLimits } from '../../../src/views/view.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { hostedView } from '../views/engine/support/engine-room.ts'
import { openFollowRoom } from './support/follow-room.ts'

/** The longest SDL that a View may have. */
function longSdl(slot: number): string {
  const [start, end] = ['"', `" type Long${slot} { a: String }`]
  return `${start}${'x'.repeat(viewLimits.sdl - start.length - end.length)}${end}`
}

test('the longest SDLs of as many Views as are followed at once fit into one frame, in order', async (t) => {
  const room = await openFollowRoom(t)
  const views = Array.from({ length: followLimits.views }, (_, index) =>
    hostedView({ slot: index + 1, sdl: longSdl(index + 1) }),
  )
  for (const view of views) room.expect(view)
  const asked = views.toReversed()
  const client = await room.follow({ views: asked })
  await client.until(() => client.views.length === views.length)
  assert.deepEqual(
    client.views,
    asked.map(({ id, name, sdl }) => ({
      ...{ view: id, name, sdl, state: 'live' },
      ...{ tail: null, head: null },
    })),
  )
  const [size, ...more] = client.frames.map((frame) => encodeHostFrame(frame).length)
  assert.deepEqual(more, [])
  assert.ok(
    size !== undefined && size > followLimits.frameBytes / 4 && size <= followLimits.frameBytes,
  )
})

test('a welcome is one frame up to 1 MiB, and no View is left out where it takes more', () => {
  const texts = { proof: Buffer.alloc(300), genesis: namedHash('block 0') }
  const named = (name: string, sdlBytes: number): WelcomedView => ({
    ...{ view: namedHash(name), name, sdl: 'x'.repeat(sdlBytes), state: 'catching-up' },
    ...{ tail: 2 ** 40, head: 2 ** 41 },
  })
  const sizesWith = (bytes: number): number[][] => {
    const views = [named('one', bytes), named('other', 1_000)]
    return welcomeFrames(texts, views).map((frame) => [
      frame.views.length,
      encodeHostFrame(frame).length,
    ])
  }
  let [most, least] = [1_000_000, 1_060_000]
  while (least - most > 1) {
    const middle = Math.floor((most + least) / 2)
    if (sizesWith(middle).length === 1) most = middle
    else least = middle
  }
  const [[count, bytes] = []] = sizesWith(most)
  assert.equal(count, 2)
  assert.ok(bytes !== undefined && bytes <= followLimits.frameBytes)
  assert.ok(bytes > followLimits.frameBytes - 2_048)
  assert.deepEqual(
    sizesWith(least).map(([views]) => views),
    [1, 1],
  )
})
