/** Pages of Views by the REST interface: which are on them, in what order, with what of each. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../src/devnet/registry/development-registry.ts'
import { openLcdFace } from '../../../src/devnet/registry/lcd-face.ts'
import { createLedger } from '../../../src/devnet/registry/ledger.ts'
import { lensHash } from '../../../src/views/lens-hash.ts'
import { encodeView } from '../../../src/views/wire.ts'

const addressOf = (digit: number): string => `0x${String(digit).repeat(40)}`
const wasm = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)
const lens = { wasm, args: '{"from":"0xabc"}' }
const logs = { query: 'Log { address }', sdl: 'type Logs {\n  address: String\n}', lenses: [] }
const senders = {
  query: 'Transaction { from }',
  sdl: '@materialized(if: true) type Senders { from: String }',
  lenses: [lens],
}
const first = {
  ...{ address: addressOf(1), creator: addressOf(8), name: 'Logs', height: 1 },
  wire: encodeView(logs),
}
const planted = [
  first,
  {
    address: addressOf(2),
    creator: addressOf(9),
    name: 'Senders',
    height: 2,
    wire: encodeView(senders),
  },
  { address: addressOf(3), creator: addressOf(9), name: 'Broken', height: 3, wire: wasm },
]

interface Page {
  readonly views: readonly { readonly name: string }[]
  readonly pagination: { readonly next_key: string | null; readonly total: string }
}

describe('a page of Views', () => {
  let registry: DevelopmentRegistry
  before(async () => {
    registry = await openDevelopmentRegistry({ acknowledgeMs: null })
    for (const view of planted) await registry.plant(view)
  })
  after(() => registry.close())

  async function fetched(path: string): Promise<[status: number, body: unknown]> {
    const response = await fetch(`${registry.lcdUrl}/shinzonetwork/view/v1/${path}`)
    return [response.status, await response.json()]
  }
  async function ask(path: string): Promise<unknown> {
    const [status, body] = await fetched(path)
    assert.equal(status, 200)
    return body
  }
  const keyOf = (digit: number): string => Buffer.from(addressOf(digit)).toString('base64')
  const pageOf = async (query: string): Promise<Page> => (await ask(`views?${query}`)) as Page
  const namesOf = async (query: string): Promise<string[]> =>
    (await pageOf(query)).views.map(({ name }) => name)

  const filters: Readonly<Record<string, readonly string[]>> = {
    '': ['Logs', 'Senders', 'Broken'],
    'since_block=2': ['Senders', 'Broken'],
    'name=SEND': ['Senders'],
    [`creator=${addressOf(8)}`]: ['Logs'],
    'metadata_root_type=Logs': ['Logs'],
    'metadata_root_type=Log': [],
    [`metadata_lens_hash=${lensHash(wasm)}`]: ['Senders'],
    'metadata_query_contains=Transaction': ['Senders'],
    'metadata_sdl_contains=String': ['Logs', 'Senders'],
    'metadata_lens_args_contains=0xabc': ['Senders'],
    'metadata_sdl_contains=': ['Logs', 'Senders', 'Broken'],
    'metadata_other=1': ['Logs', 'Senders'],
    'metadata_sdl_contains=String&metadata_query_contains=Log': ['Logs'],
  }
  for (const [query, names] of Object.entries(filters))
    test(`by ${query || 'no filter'} has ${names.join(', ') || 'none'}`, async () => {
      assert.deepEqual(await namesOf(query), names)
    })

  test('begins at an offset or a key, in either direction', async () => {
    const key = (digit: number): string => encodeURIComponent(keyOf(digit))
    const cases: Readonly<Record<string, readonly string[]>> = {
      'pagination.offset=1': ['Senders', 'Broken'],
      'pagination.offset=3': [],
      'pagination.limit=2': ['Logs', 'Senders'],
      'pagination.limit=0': ['Logs', 'Senders', 'Broken'],
      'pagination.reverse=true': ['Broken', 'Senders', 'Logs'],
      'pagination.reverse=true&pagination.offset=1': ['Senders', 'Logs'],
      [`pagination.key=${key(1)}`]: ['Logs', 'Senders', 'Broken'],
      [`pagination.key=${key(2)}`]: ['Senders', 'Broken'],
      [`pagination.key=${key(2)}&pagination.reverse=true`]: ['Senders', 'Logs'],
      [`pagination.key=${key(4)}`]: [],
    }
    for (const [query, names] of Object.entries(cases))
      assert.deepEqual(await namesOf(query), names, query)
  })

  test('names the key of the next page, until there is none', async () => {
    const nextOf = async (query: string): Promise<string | null> =>
      (await pageOf(query)).pagination.next_key
    assert.equal(await nextOf('pagination.limit=1'), keyOf(2))
    assert.equal(await nextOf('pagination.limit=1&pagination.offset=1'), keyOf(3))
    assert.equal(await nextOf('pagination.limit=2&pagination.offset=1'), null)
    assert.equal(await nextOf('pagination.limit=3'), null)
    assert.equal(await nextOf('pagination.limit=1&pagination.reverse=true'), keyOf(2))
  })

  test('is refused in the words of the real chain, as is what it has no answer for', async () => {
    const failure = (status: number, code: number, message: string): unknown => [
      status,
      { code, message, details: [] },
    ]
    const syntax = (field: string): unknown =>
      failure(400, 3, `parsing field "pagination.${field}": invalid syntax`)
    const cases: Readonly<Record<string, unknown>> = {
      'views?pagination.limit=x': syntax('limit'),
      'views?pagination.offset=-1': syntax('offset'),
      'views?pagination.key=AAAAA': failure(
        400,
        3,
        'illegal base64 data in field "pagination.key"',
      ),
      'views?pagination.key=AAAA&pagination.offset=1': failure(
        500,
        2,
        'invalid request, either offset or key is expected, got both',
      ),
      [`views/${addressOf(4)}`]: failure(404, 5, 'view not found'),
      'views/': failure(501, 12, 'Not Implemented'),
      pending: failure(501, 12, 'Not Implemented'),
    }
    for (const [path, expected] of Object.entries(cases))
      assert.deepEqual(await fetched(path), expected, path)
    assert.equal((await namesOf('pagination.key=AAAA&pagination.offset=0')).length, 3)
    const elsewhere = await fetch(`${registry.lcdUrl}/somewhereelse/view/v1/views/${addressOf(1)}`)
    assert.equal(elsewhere.status, 501)
  })

  test('counts all Views of the filter where nothing is said of pages, or where it is asked to', async () => {
    const totals: Readonly<Record<string, string>> = {
      '': '3',
      'name=s': '2',
      'pagination.limit=1': '0',
      'pagination.limit=1&pagination.count_total=true': '3',
    }
    for (const [query, total] of Object.entries(totals))
      assert.equal((await pageOf(query)).pagination.total, total, query)
    assert.deepEqual(await ask('view_count'), { count: '3' })
  })

  test('has data and metadata of a View where they are asked for', async () => {
    const { views } = await pageOf('include_metadata=true&include_data=true')
    const found = planted.map(({ wire, height, ...view }) => ({
      ...view,
      height: `${height}`,
      data: Buffer.from(wire).toString('base64'),
    }))
    const hash = lensHash(wasm)
    const metadata = [
      { ...logs, root_type: 'Logs', parse_error: '' },
      {
        ...senders,
        root_type: 'Senders',
        lenses: [{ id: 1, args: lens.args, hash }],
        parse_error: '',
      },
      {
        ...{ query: '', sdl: '', root_type: '', lenses: [] },
        parse_error: 'these are not wire bytes of a View: they do not begin with VWL',
      },
    ]
    assert.deepEqual(
      views,
      found.map((view, index) => ({ ...view, metadata: metadata[index] })),
    )
    const bare = found.map((view) => ({ ...view, data: null, metadata: null }))
    assert.deepEqual((await pageOf('')).views, bare)
    assert.deepEqual(await ask(`views/${addressOf(2)}`), { view: bare[1] })
  })
})

test('a page is refused from 10 MiB on, as its bytes go through the chain', async (t) => {
  const most = 10 * 1024 * 1024
  /** About what a View takes beside its bytes. */
  const row = 140
  async function ask(sizes: readonly number[], query: string): Promise<Response> {
    const ledger = createLedger()
    for (const [index, size] of sizes.entries()) {
      const view = { ...first, address: addressOf(index), wire: new Uint8Array(size) }
      ledger.add({ height: 1, id: `${index}`, steps: [{ kind: 'registered', view }] })
    }
    const face = await openLcdFace(0, ledger)
    t.after(() => face.close())
    return await fetch(`${face.url}/shinzonetwork/view/v1/views?${query}`)
  }
  const [data, metadata] = ['include_data=true', 'include_metadata=true']
  assert.equal((await ask([most - 2 * row - 5, 5], data)).status, 200)
  assert.equal((await ask([most - 2 * row - 5, 6], data)).status, 429)
  const { views } = (await (await ask([most], metadata)).json()) as {
    views: { metadata: object }[]
  }
  const left = most - row - (JSON.stringify(views[0]?.metadata).length - 'null'.length)
  assert.equal((await ask([left], `${data}&${metadata}`)).status, 200)
  assert.equal((await ask([left + 1], `${data}&${metadata}`)).status, 429)
})
