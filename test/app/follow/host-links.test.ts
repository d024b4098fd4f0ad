/** Which Hosts are asked again, and when. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHostLinks } from '../../../src/app/follow/host-links.ts'
import { usualPatience } from '../../../src/app/follow/patience.ts'
import { connect, openRoom, testNetwork, until } from '../../support/p2p-room.ts'
import { createMadeChain, madeView, otherView } from '../support/made-chain.ts'
import { openMadeHost } from '../support/made-host.ts'
import { openTestFollower } from '../support/test-follower.ts'

test('a Host is asked again for a View that it did not have, and feeds it once it has', async (t) => {
  const chain = createMadeChain()
  chain.grow(3)
  let had = [madeView]
  const host = await openMadeHost(t, {
    chain,
    get views() {
      return had
    },
  })
  const application = await openRoom(t)
  await connect(application, host.room)
  const views = [madeView, otherView]
  const { follower, log, onFatal } = await openTestFollower(t, { views, hosts: [host.identity] })
  const links = openHostLinks(
    {
      network: testNetwork,
      peers: [host.room.id],
      views,
      minimumHosts: 1,
      patience: { ...usualPatience, checkMs: 100, askServedMs: 100 },
    },
    { p2p: application.p2p, follower, log, onChange: () => undefined, onFatal },
  )
  t.after(() => links.close())
  const top = (view: string): number => follower.progress(view).stored
  await until(() => top(madeView) === 2)
  const { rows, votes } = host.opened
  await until(() => host.opened.rows + host.opened.votes > rows + votes)
  assert.deepEqual([top(otherView), links.isFed(otherView)], [-1, false])
  had = views
  await until(() => top(otherView) === 2 && links.isFed(otherView) && links.isFed(madeView))
  chain.grow(2)
  await until(() => top(madeView) === 4 && top(otherView) === 4)
  await links.close()
})
