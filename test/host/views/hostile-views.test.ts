/** A whole Host with Views whose lenses do what they can against it: the head, /health and other Views go on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { pause } from '../../support/programs.ts'
import { openTestGenerator } from '../../support/test-generator.ts'
import { testDirectory } from '../../support/test-store.ts'
import { hostileViews, viewOfLens } from './support/hostile-views.ts'

interface ListedView {
  readonly name: string
  readonly rows: number
  readonly error: { readonly code: string } | null
  readonly done: readonly { readonly to: number }[]
}

test('hostile Views harm themselves alone: head, health and other Views of a Host go on', async (t) => {
  const blocks = createChain({ count: 3, from: 1, shape: shapes.tiny })
  const generator = await openTestGenerator(t, 'honest', blocks.slice(0, 1))
  const host = await openHostInProcess(t, testDirectory(t), {
    BOOTSTRAP_PEERS: generator.room.address,
    HOST_TRUSTED_SIGNERS: generator.signer.identity,
    HOST_ADMIN_TOKEN: 'admin',
  })
  const { apiPort } = await host.opened
  const viewsUrl = `http://127.0.0.1:${apiPort}/api/v0/views`
  const post = async (wire: Uint8Array): Promise<void> => {
    const { status } = await fetch(viewsUrl, {
      method: 'POST',
      headers: { authorization: 'Bearer admin', 'content-type': 'application/json' },
      body: JSON.stringify({ wire: Buffer.from(wire).toString('base64') }),
    })
    assert.equal(status, 201)
  }
  const listed = async (): Promise<readonly ListedView[]> => {
    const { views } = (await (await fetch(viewsUrl)).json()) as { views: ListedView[] }
    return views
  }
  for (const wire of [...hostileViews(), viewOfLens('Good')]) await post(wire)
  for (const [index, block] of blocks.entries()) {
    if (index >= 1) await generator.publish([block])
    for (let isDone = false; !isDone; await pause(50)) {
      const good = (await listed()).find(({ name }) => name === 'Good')
      isDone = good?.done.some(({ to }) => to >= block.number) ?? false
      assert.equal((await host.health()).status, 200)
    }
    assert.ok(((await host.health()).report.head ?? 0) >= block.number)
  }
  let views = await listed()
  for (; views.some(({ name, error }) => name !== 'Good' && error === null); await pause(50))
    views = await listed()
  for (const { name, rows, error } of views) {
    assert.equal(rows, name === 'Good' ? 3 : 0, name)
    assert.match(error?.code ?? '', name === 'Good' ? /^$/ : /^LENS_/)
  }
  assert.equal((await host.health()).status, 200)
  assert.deepEqual(host.captured.messages('fatal'), [])
})
