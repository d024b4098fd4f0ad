/** What a transaction of the registry chain says of Views: the events of all generations of that chain. */
import { type JsonObject, membersOf } from '../json-object.ts'
import { type AnnouncedView, type RefusedView, readAnnouncedView } from './listed-view.ts'

/**
 * One query for each generation; CometBFT knows no OR, and gives a client five. A transaction that has the events of
 * several arrives for each.
 */
export const registrationQueries: readonly string[] = [
  'view.view_registered.address',
  'view.view_registered.view_id',
  'Registered.key',
].map((key) => `tm.event='Tx' AND ${key} EXISTS`)

interface TxEvents {
  /** Height of the transaction; null where it does not say. */
  readonly height: number | null
  readonly views: readonly (AnnouncedView | RefusedView)[]
  /** Whether there were more than are read. */
  readonly isCut: boolean
}

const registered: ReadonlySet<unknown> = new Set(['view.view_registered', 'Registered'])
/** Batches of acknowledgements are smaller; what is left out is in the list. */
const maxViews = 256
/** An event of a View has six. */
const maxAttributes = 32

/** Reads what arrives for a subscription; nothing of what is no transaction. */
export function readTxEvents(message: unknown): TxEvents {
  const tx = membersOf(membersOf(membersOf(membersOf(message)['data'])['value'])['TxResult'])
  const found = eventsOf(tx['result']).filter(({ type }) => registered.has(type))
  const height = typeof tx['height'] === 'string' ? tx['height'] : ''
  return {
    height: /^\d{1,15}$/.test(height) ? Number(height) : null,
    views: found.slice(0, maxViews).map((event) => readAnnouncedView(attributesOf(event))),
    isCut: found.length > maxViews,
  }
}

/** The events of the result of a transaction; none of anything else. */
export function eventsOf(result: unknown): readonly JsonObject[] {
  const { events } = membersOf(result)
  return (Array.isArray(events) ? events : []).map(membersOf)
}

/** What an event says, by name; only its first attributes are read. */
export function attributesOf({ attributes }: JsonObject): JsonObject {
  const list = (Array.isArray(attributes) ? attributes : []).slice(0, maxAttributes).map(membersOf)
  return Object.fromEntries(
    list.flatMap(({ key, value }) => (typeof key === 'string' ? [[key, value]] : [])),
  )
}
