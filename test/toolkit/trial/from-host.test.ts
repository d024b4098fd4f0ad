import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openExampleHost } from '../../docs/support/example-host.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

test('view test --from has the rows that the Host itself has of the View', async (t) => {
  const host = await openExampleHost({})
  t.after(() => host.close())
  const { run, json } = await openTestTerminal(t)
  await run(['view', 'init'])
  const fields = 'address topics data blockNumber logIndex transactionHash transactionIndex'
  const block = 'block { number hash timestamp miner gasUsed baseFeePerGas }'
  const transaction = 'transaction { hash from to value gas gasUsed input nonce type status v r s }'
  const query = `Log { ${fields} ${block} ${transaction} }`
  const types = fields.split(' ').map((name) => `${name}: JSON`)
  const sdl = `type Logs { ${types.join(' ')} block: JSON transaction: JSON }`
  const created = await run(['view', 'create', 'Logs', '--query', query, '--sdl', sdl])
  assert.equal(created.exitCode, 0, created.stderr)
  const argv = ['view', 'test', 'Logs', '--from', host.apiOrigin, '--blocks', '1000']
  const report = (await json(...argv)) as { rows: readonly object[]; network: string }
  const answer = await fetch(`${host.apiOrigin}/api/v0/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `{ ${query} }` }),
  })
  const { data } = (await answer.json()) as { data: { Log: readonly object[] } }
  const rows = report.rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('_'))),
  )
  assert.ok(rows.length > 10)
  assert.deepEqual(rows, data.Log)

  const from = ['view', 'test', 'Logs', '--from', host.apiOrigin]
  const two = await run([...from, '--blocks', '2'], { isTTY: true })
  const line = '\r\u001b[2K'
  const read = [1, 2].map((count) => `${line}block ${count} of 2 read`).join('')
  const computed = [1, 2].map((count) => `${line}block ${count} of 2`).join('')
  assert.equal(two.stderr, `${read}${line}${computed}${line}`)
  assert.match((await run(from, { isTTY: true })).stderr, /block 1 of 10 read/)
})
