/** What the module says of a View, against the schema that a Host serves for it: neither has more than the other. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openExampleHost } from '../../docs/support/example-host.ts'
import { typeProperties } from '../support/compile.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const token = 'a token of tests only, and long enough'
const sdl = `type Things { text: String name: ID count: Int share: Float done: Boolean amount: BigInt extra: JSON
  texts: [String] names: [ID] counts: [Int] shares: [Float] dones: [Boolean] amounts: [BigInt] extras: [JSON] }`

interface Member {
  readonly name: string
  readonly type: { readonly name: string | null }
}

interface Described {
  readonly fields: readonly (Member & { readonly args: readonly Member[] })[] | null
  readonly inputFields: readonly Member[] | null
}

async function open(t: TestContext) {
  const host = await openExampleHost({ HOST_ADMIN_TOKEN: token })
  t.after(() => host.close())
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const post = async (path: string, body: unknown): Promise<unknown> => {
    const url = `${host.apiOrigin}/api/v0/${path}`
    const sent = { method: 'POST', headers, body: JSON.stringify(body) }
    return await (await fetch(url, sent)).json()
  }
  await post('views', { query: 'Log { text: address }', sdl })
  const { run } = await openTestTerminal(t)
  const { stdout } = await run(['types', 'Things', '--host', host.apiOrigin])
  const query = `query ($name: String!) { __type(name: $name) {
    fields { name type { name } args { name type { name } } } inputFields { name type { name } } } }`
  const describe = async (name: string): Promise<Described> => {
    const answer = await post('graphql', { query, variables: { name } })
    return (answer as { data: { __type: Described } }).data.__type
  }
  return { module: stdout, describe }
}

const namesOf = (members: readonly { name: string }[] | null | undefined): string[] =>
  (members ?? []).map(({ name }) => name).toSorted()

const without = (names: readonly string[], ...left: readonly string[]): string[] =>
  names.filter((name) => !left.includes(name))

test('a filter has each field of the View with each of its operators, as the Host has them', async (t) => {
  const { module, describe } = await open(t)
  const { inputFields } = await describe('ThingsFilterArg')
  const properties = typeProperties(module, 'ThingsFilter')
  // Conditions on aliases belong to queries of one's own.
  assert.deepEqual(Object.keys(properties).toSorted(), without(namesOf(inputFields), '_alias'))
  for (const { name, type } of inputFields ?? []) {
    if (type.name === null || ['_not', '_alias'].includes(name)) continue
    const operators = namesOf((await describe(type.name)).inputFields)
    assert.deepEqual([name, properties[name]], [name, operators])
  }
})

test('rows, orders and variables have what the Host has, but groups and what never differs', async (t) => {
  const { module, describe } = await open(t)
  const keys = (type: string): string[] => Object.keys(typeProperties(module, type)).toSorted()
  const { fields } = await describe('Things')
  const aggregates = ['COUNT', 'SUM', 'AVG', 'MIN', 'MAX', 'GROUP']
  const folded = namesOf(fields).filter((name) => /^_(?:count|sum|avg|min|max|group)$/.test(name))
  assert.deepEqual(
    keys('ThingsRow'),
    without(namesOf(fields), '_source', '_deleted', ...aggregates, ...folded),
  )
  const { inputFields } = await describe('ThingsOrderArg')
  assert.deepEqual(keys('ThingsOrder'), without(namesOf(inputFields), '_alias'))
  const list = (await describe('Query')).fields?.find(({ name }) => name === 'Things')
  assert.deepEqual(keys('ThingsVariables'), without(namesOf(list?.args), 'groupBy', 'showDeleted'))
})
