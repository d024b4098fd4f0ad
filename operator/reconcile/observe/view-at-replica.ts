/** What a Host says of its Views at `/api/v0/views`, as far as status needs it. */
import { paths, ports } from '../../../src/service/contract.ts'
import { apartFromText, fieldsOf, parseFields } from '../../resources/names/unchecked-json.ts'

/** From the furthest from live to the nearest. */
const states = [
  'refused',
  'foreign',
  'quarantined',
  'failed',
  'waiting',
  'backfilling',
  'lagging',
  'live',
] as const

export type HostedState = (typeof states)[number]

/** One View at one replica. */
export interface ViewAtReplica {
  /** As it was asked for: either ID. */
  readonly id: string
  readonly state: HostedState
  /** Its name in GraphQL; null where it is not served. */
  readonly name: string | null
  /** The name of the type of its rows. */
  readonly type: string | null
  readonly rows: number | null
  /** The highest block that is done. */
  readonly lastBlock: number | null
  /** What is wrong, with what to do; null where nothing is, or it goes on all the same. */
  readonly message: string | null
}

/** How near to live a state is: 0 is furthest. */
export function nearness(state: HostedState): number {
  return states.indexOf(state)
}

/** Where a replica at an IP address is asked for its Views. */
export function viewsUrl(ip: string): string {
  return `http://${ip.includes(':') ? `[${ip}]` : ip}:${ports.api}${paths.views}`
}

type Fields = Readonly<Record<string, unknown>>

/**
 * What an answer says of the Views of these IDs; null where it is no answer of ours. Views that the Host does not know
 * are left out. The answer comes from a pod, so nothing in it is trusted to have its shape.
 */
export function parseHostedViews(text: string, ids: readonly string[]): ViewAtReplica[] | null {
  const { views, folder, registry } = parseFields(text)
  if (!Array.isArray(views)) return null
  const asked = new Map(ids.map((id) => [id.toLowerCase(), id]))
  const found = new Map<string, ViewAtReplica>()
  const takeIn = (list: unknown, read: (id: string, entry: Fields) => ViewAtReplica): void => {
    const entries: readonly unknown[] = Array.isArray(list) ? list : []
    for (const entry of entries.map(fieldsOf)) {
      const names = [entry['id'], entry['address']].map((name) => String(name).toLowerCase())
      const id = names.map((name) => asked.get(name)).find((name) => name !== undefined)
      if (id !== undefined && !found.has(id)) found.set(id, read(id, entry))
    }
  }
  takeIn(views, readView)
  takeIn(fieldsOf(folder)['others'], readRefused)
  takeIn(fieldsOf(registry)['others'], readRefused)
  return apartFromText([...found.values()])
}

function readView(id: string, entry: Fields): ViewAtReplica {
  const { message, remedy } = fieldsOf(entry['error'])
  const texts = isGoingOn(entry) ? [] : [textOf(message), textOf(remedy)]
  const said = texts.filter((text) => text !== null)
  return {
    id,
    state: states.find((state) => state === entry['state']) ?? 'waiting',
    name: textOf(entry['name']),
    type: textOf(entry['type']),
    rows: countOf(entry['rows']),
    lastBlock: countOf(entry['last_block']),
    message: said.length === 0 ? null : said.join('. '),
  }
}

/** Blocks are done while one of them failed, or its lenses have more work than is kept, which passes by itself. */
function isGoingOn({ state, error, blocks_per_second: rate }: Fields): boolean {
  if (state !== 'backfilling' && state !== 'lagging' && state !== 'waiting') return false
  return fieldsOf(error)['code'] === 'LENS_BUSY' || (typeof rate === 'number' && rate > 0)
}

function readRefused(id: string, entry: Fields): ViewAtReplica {
  const message = textOf(entry['reason'])
  return { id, state: 'refused', name: null, type: null, rows: null, lastBlock: null, message }
}

const maxText = 256

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, maxText) : null
}

function countOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null
}
