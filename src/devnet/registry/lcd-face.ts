/**
 * The REST interface (LCD) of the stand-in of the registry chain: registered Views in pages, with the filters,
 * failures and limits of the real one.
 */
import { messageOf } from '../../errors.ts'
import { lensHash } from '../../views/lens-hash.ts'
import type { View } from '../../views/view.ts'
import { decodeView } from '../../views/wire.ts'
import { type FaceResponse, type HttpFace, openHttpFace } from './http-face.ts'
import type { ChainView, Ledger } from './ledger.ts'

/** The largest answer that the real chain's gateway takes from the chain. */
const maxPageBytes = 10 * 1024 * 1024

/** About what a View takes in a page beside its bytes. */
const rowBytes = 140
const defaultLimit = 100
const base = '/shinzonetwork/view/v1'

/** Opens the face; port 0 takes any free one. */
export async function openLcdFace(port: number, ledger: Ledger): Promise<HttpFace> {
  return await openHttpFace(port, async (_, url) => route(url, ledger))
}

function route({ pathname, searchParams }: URL, ledger: Ledger): FaceResponse {
  if (pathname === `${base}/views`) return listViews(searchParams, ledger)
  if (pathname === `${base}/view_count`)
    return { status: 200, json: { count: String(ledger.registered().length) } }
  const address = /^\/views\/([^/]+)$/.exec(pathname.slice(base.length))?.[1]
  if (pathname.startsWith(base) && address !== undefined)
    return oneView(decodeURIComponent(address), searchParams, ledger)
  return failure(501, 12, 'Not Implemented')
}

function oneView(address: string, parameters: URLSearchParams, ledger: Ledger): FaceResponse {
  const view = ledger.registered().find((registered) => registered.address === address)
  if (view === undefined) return failure(404, 5, 'view not found')
  return { status: 200, json: { view: toRow(view, parameters) } }
}

function listViews(parameters: URLSearchParams, ledger: Ledger): FaceResponse {
  const page = readPage(parameters)
  if ('status' in page) return page
  const matching = ledger.registered().filter((view) => matches(view, parameters))
  const ordered = page.isReverse ? matching.toReversed() : matching
  const start = page.key === null ? page.offset : startOf(ordered, page.key, page.isReverse)
  const found = ordered.slice(start, start + page.limit)
  const rows = found.map((view) => toRow(view, parameters))
  const bytes = sizeOf(found, rows, parameters)
  if (bytes > maxPageBytes) {
    const sizes = `(${bytes} vs. ${maxPageBytes})`
    return failure(429, 8, `grpc: received message larger than max ${sizes}`)
  }
  const next = ordered[start + page.limit]
  const pagination = {
    next_key: next === undefined ? null : Buffer.from(next.address).toString('base64'),
    total: String(page.countsTotal ? ordered.length : 0),
  }
  return { status: 200, json: { views: rows, pagination } }
}

interface Page {
  readonly key: string | null
  readonly offset: number
  readonly limit: number
  readonly isReverse: boolean
  readonly countsTotal: boolean
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function readPage(parameters: URLSearchParams): Page | FaceResponse {
  const of = (name: string): string => parameters.get(`pagination.${name}`) ?? ''
  for (const name of ['offset', 'limit']) {
    if (!/^\d{0,19}$/.test(of(name)))
      return failure(400, 3, `parsing field "pagination.${name}": invalid syntax`)
  }
  // A plus sign that was not escaped arrives as a space; the real gateway takes such a key as well.
  const key = of('key').replaceAll(' ', '+')
  if (!base64.test(key)) return failure(400, 3, 'illegal base64 data in field "pagination.key"')
  if (key !== '' && Number(of('offset')) > 0)
    return failure(500, 2, 'invalid request, either offset or key is expected, got both')
  const isGiven = [...parameters.keys()].some((name) => name.startsWith('pagination.'))
  return {
    key: key === '' ? null : Buffer.from(key, 'base64').toString('utf8'),
    offset: Number(of('offset')),
    limit: Number(of('limit')) || defaultLimit,
    isReverse: of('reverse') === 'true',
    countsTotal: !isGiven || of('count_total') === 'true',
  }
}

function startOf(views: readonly ChainView[], key: string, isReverse: boolean): number {
  const index = views.findIndex(({ address }) => (isReverse ? address <= key : address >= key))
  return index < 0 ? views.length : index
}

/** Where a metadata filter is given, Views that cannot be parsed are left out. */
function matches(view: ChainView, parameters: URLSearchParams): boolean {
  const { name, creator, height } = view
  const of = (filter: string): string => parameters.get(filter) ?? ''
  if (height < Number(of('since_block'))) return false
  if (!name.toLowerCase().includes(of('name').toLowerCase())) return false
  if (of('creator') !== '' && of('creator') !== creator) return false
  const filters = [...parameters].filter(
    ([filter, value]) => filter.startsWith('metadata_') && value !== '',
  )
  if (filters.length === 0) return true
  const metadata = metadataOf(view)
  if (metadata.parse_error !== '') return false
  return filters.every(([filter, value]) => metadataMatches(metadata, filter, value))
}

interface Metadata {
  readonly query: string
  readonly sdl: string
  readonly root_type: string
  readonly lenses: readonly { readonly id: number; readonly args: string; readonly hash: string }[]
  readonly parse_error: string
}

function metadataMatches(metadata: Metadata, filter: string, value: string): boolean {
  const { query, sdl, root_type, lenses } = metadata
  switch (filter) {
    case 'metadata_root_type':
      return root_type === value
    case 'metadata_lens_hash':
      return lenses.some(({ hash }) => hash === value)
    case 'metadata_query_contains':
      return query.includes(value)
    case 'metadata_sdl_contains':
      return sdl.includes(value)
    case 'metadata_lens_args_contains':
      return lenses.some(({ args }) => args.includes(value))
    default:
      return true
  }
}

function metadataOf({ wire }: ChainView): Metadata {
  let view: View
  try {
    view = decodeView(wire)
  } catch (err) {
    const parse_error = messageOf(err)
    return { query: '', sdl: '', root_type: '', lenses: [], parse_error }
  }
  const { query, sdl, lenses } = view
  return {
    query,
    sdl,
    root_type: /\btype\s+([A-Za-z0-9_]+)\b/.exec(sdl)?.[1] ?? '',
    lenses: lenses.map(({ wasm, args }, index) => ({ id: index + 1, args, hash: lensHash(wasm) })),
    parse_error: '',
  }
}

function toRow(view: ChainView, parameters: URLSearchParams): unknown {
  const { name, creator, address, height, wire } = view
  const asks = (flag: string): boolean => parameters.get(flag) === 'true'
  return {
    name,
    creator,
    address,
    data: asks('include_data') ? Buffer.from(wire).toString('base64') : null,
    height: String(height),
    metadata: asks('include_metadata') ? metadataOf(view) : null,
  }
}

/** The page as the chain sends it to its gateway, where bytes are not base64 yet. */
function sizeOf(
  views: readonly ChainView[],
  rows: readonly unknown[],
  parameters: URLSearchParams,
): number {
  const withData = parameters.get('include_data') === 'true'
  const data = withData ? views.reduce((sum, { wire }) => sum + wire.length, 0) : 0
  const withMetadata = parameters.get('include_metadata') === 'true'
  const metadata = withMetadata ? JSON.stringify(rows).length - withoutData(rows) : 0
  return views.length * rowBytes + data + metadata
}

function withoutData(rows: readonly unknown[]): number {
  return JSON.stringify(rows, (key, value) => (key === 'metadata' ? null : value)).length
}

function failure(status: number, code: number, message: string): FaceResponse {
  return { status, json: { code, message, details: [] } }
}
