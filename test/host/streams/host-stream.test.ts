/** A whole Host with a View that is computed for each query, over HTTP. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildLens } from '../../lens/support/lens.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { pause } from '../../support/programs.ts'
import { openTestGenerator } from '../../support/test-generator.ts'
import { testDirectory } from '../../support/test-store.ts'

interface Listed {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly rows: number
  readonly bytes: number
  readonly done: readonly object[]
  readonly error: object | null
}

test('a View with another @materialized is another View: “new content gives a new View ID”', async (t) => {
  const blocks = createChain({ count: 4, from: 1, shape: shapes.tiny })
  const generator = await openTestGenerator(t, 'honest', blocks)
  const host = await openHostInProcess(t, testDirectory(t), {
    BOOTSTRAP_PEERS: generator.room.address,
    HOST_TRUSTED_SIGNERS: generator.signer.identity,
    HOST_ADMIN_TOKEN: 'admin',
  })
  const { apiPort } = await host.opened
  const api = `http://127.0.0.1:${apiPort}/api/v0`
  const headers = { authorization: 'Bearer admin', 'content-type': 'application/json' }
  const post = async (materialized: boolean): Promise<Listed> => {
    const sdl = `type Numbers @materialized(if: ${materialized}) { number: Int hash: String }`
    const lenses = [{ wasm: Buffer.from(buildLens()).toString('base64') }]
    const body = JSON.stringify({ query: 'Block { number hash }', sdl, lenses })
    const answer = await fetch(`${api}/views`, { method: 'POST', headers, body })
    assert.equal(answer.status, 201)
    return (await answer.json()) as Listed
  }
  const listed = async (id: string): Promise<Listed> =>
    (await (await fetch(`${api}/views/${id}`)).json()) as Listed
  const query = async (text: string) => {
    const body = JSON.stringify({ query: text })
    const answer = await fetch(`${api}/graphql`, { method: 'POST', headers, body })
    return (await answer.json()) as { data: Record<string, unknown> | null; errors?: object[] }
  }
  const kept = await post(true)
  while ((await listed(kept.id)).rows < blocks.length) await pause(20)
  const made = await post(false)
  assert.notEqual(made.id, kept.id)
  assert.deepEqual([kept.name, made.name], ['Numbers', `Numbers_${made.id.slice(2, 10)}`])
  const state = await listed(made.id)
  assert.deepEqual(
    [state.state, state.rows, state.bytes, state.done, state.error],
    ['live', 0, 0, [], null],
  )

  const fields = '{ number hash _blockNumber }'
  let answer = await query(`{ Numbers ${fields} made: ${made.name} ${fields} }`)
  // Schemas are built at most twice a second.
  while (answer.errors !== undefined) {
    await pause(50)
    answer = await query(`{ Numbers ${fields} made: ${made.name} ${fields} }`)
  }
  const rows = answer.data?.['Numbers']
  assert.equal(Array.isArray(rows) ? rows.length : 0, blocks.length)
  assert.deepEqual(answer.data?.['made'], rows)
  const shown = await query(`{ __type(name: "${made.name}") { fields { name } } }`)
  assert.match(JSON.stringify(shown.data), /"_docID".*"number".*"hash".*"_blockNumber"/)

  const subscription = await fetch(`${api}/graphql`, {
    method: 'POST',
    headers: { ...headers, accept: 'text/event-stream' },
    body: JSON.stringify({ query: `subscription { ${made.name} { number } }` }),
  })
  assert.match(await subscription.text(), /GRAPHQL_VIEW_NOT_STORED/)

  const { origin } = new URL(host.healthUrl)
  const metrics = await (await fetch(`${origin}/metrics`)).text()
  assert.match(metrics, /^viewmesh_host_views\{state="live"\} 2$/m)
  assert.match(metrics, /^viewmesh_host_view_stream_rows_total 4$/m)
  const { authorization } = headers
  const removed = await fetch(`${api}/views/${made.id}`, {
    method: 'DELETE',
    headers: { authorization },
  })
  assert.equal(removed.status, 204)
  while ((await query(`{ ${made.name} { number } }`)).errors === undefined) await pause(50)
  assert.equal((await listed(kept.id)).rows, blocks.length)
})
