/** What the registry chain is at fault with, brought about and found in docs/troubleshooting.md. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { openLcd } from '../../src/registry/lcd.ts'
import { listViews } from '../../src/registry/list-views.ts'
import { verifyView } from '../../src/registry/verify-view.ts'
import { assertExplained } from '../docs/support/explained.ts'
import { first } from '../views/vectors.ts'

const never = new AbortController().signal
const bounds = { pageLimit: 1, maxPages: 2 }

/** Why a list cannot be read of an LCD that answers so; without an answer nobody listens. */
async function failure(t: TestContext, answer?: (response: ServerResponse) => void) {
  const server = createServer((_, response) => answer?.(response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  if (answer === undefined) close()
  else t.after(close)
  const lcd = openLcd({ url: `http://127.0.0.1:${port}`, timeoutMs: 5_000 })
  t.after(() => lcd.close())
  try {
    for await (const _ of listViews(lcd, bounds, never));
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('it was read')
}

const answers: Readonly<Record<string, ((response: ServerResponse) => void) | undefined>> = {
  REGISTRY_UNREACHABLE: undefined,
  REGISTRY_REFUSED: (response) => response.writeHead(429).end('slow down'),
  REGISTRY_ANSWER_MALFORMED: (response) => response.end('<html>'),
  REGISTRY_ANSWER_TOO_LARGE: (response) => response.writeHead(429).end('{"code":8}'),
  REGISTRY_LIST_ENDLESS: (response) => response.end('{"views":[],"pagination":{"next_key":"A"}}'),
}

for (const [code, answer] of Object.entries(answers))
  test(`${code} is explained by its message, with the settings of its remedy`, async (t) => {
    const error = await failure(t, answer)
    assert.equal(error.code, code)
    assertExplained(error)
  })

test('REGISTRY_ANSWER_TOO_LARGE is explained where there are too many values', async (t) => {
  const error = await failure(t, (response) => response.end(`[${'0,'.repeat(1e5)}0]`))
  assert.equal(error.code, 'REGISTRY_ANSWER_TOO_LARGE')
  assert.deepEqual(Object.keys(error.facts), ['endpoint', 'maxValues'])
  assertExplained(error)
})

test('REGISTRY_VIEW_MISMATCH is explained by its message', () => {
  const { sender, wire } = first
  const view = { name: 'V', registeredAt: 1, wire: new Uint8Array(Buffer.from(wire, 'hex')) }
  try {
    verifyView({ ...view, sender, id: `0x${'00'.repeat(20)}` })
    assert.fail('it is accepted')
  } catch (error) {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'REGISTRY_VIEW_MISMATCH')
    assertExplained(error)
  }
})
