import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { openHttpFace } from '../../../src/devnet/registry/http-face.ts'

test('a request that cannot be answered gets 500, with why', async (t) => {
  const face = await openHttpFace(0, async () => {
    throw new Error('the node is gone')
  })
  t.after(() => face.close())
  const response = await fetch(`${face.url}/status`)
  const why = { code: 2, message: 'Error: the node is gone', details: [] }
  assert.deepEqual([response.status, await response.json()], [500, why])
})

test('the end waits for no request that is not answered', async () => {
  const asked = new EventTarget()
  const face = await openHttpFace(0, async () => {
    asked.dispatchEvent(new Event('asked'))
    return await new Promise(() => undefined)
  })
  const begun = once(asked, 'asked')
  const request = assert.rejects(fetch(face.url), { name: 'TypeError' })
  await begun
  await face.close()
  await request
})
