/**
 * A View as the registry chain reports it, before anything of that is verified. Each generation of the chain has other
 * names for the same facts, in the JSON of its LCD and in the attributes of its events; all are read.
 */
import { type JsonObject, membersOf } from '../json-object.ts'
import { viewLimits } from '../views/view.ts'
import { noSender, parseViewID } from '../views/view-id.ts'
import { fromBech32 } from './bech32.ts'

/** What a list of Views says of one. */
export interface ListedView {
  /** The ID that the chain gives it: an address with its checksum, or the long ID in lower case. */
  readonly id: string
  /** Who registered it: 0x and 40 lower-case digits. */
  readonly sender: string
  /** The name of its type. */
  readonly name: string
  /** Height of the registry chain at which it was registered. */
  readonly registeredAt: number
}

/** A View with its wire bytes. */
export interface SentView extends ListedView {
  readonly wire: Uint8Array
}

/** A View that cannot be what it says; `id` as far as it can be read. */
export interface RefusedView {
  readonly id: string
  readonly reason: string
}

/** Whether a View of a list could be read. */
export function isListed(view: ListedView | RefusedView): view is ListedView {
  return !('reason' in view)
}

/** What an event says: the bytes, and what else a list has, only where its generation sends them. */
export interface AnnouncedView extends Pick<ListedView, 'id' | 'sender' | 'name'> {
  readonly wire: Uint8Array | null
}

/** Longest name that is passed on; GraphQL has no longer ones. */
const namePattern = /^[A-Za-z0-9_]{1,256}$/
const prefixedAddress = /^[A-Za-z0-9_]+_(0x[0-9a-f]{40})$/i
/** The longest ID is that with the name of a type before it. */
const maxIDCharacters = 256 + '_0x'.length + 64
/** As base64. */
const maxWireCharacters = 4 * Math.ceil(viewLimits.wire / 3)
/** What is shown of an invalid ID. */
const shownCharacters = 80

/** Reads one View of a list, of whose bytes nothing is looked at. */
export function readListedView(value: unknown): ListedView | RefusedView {
  const fields = membersOf(value)
  const claims = readClaims(fields)
  if ('reason' in claims) return claims
  const registeredAt = heightOf(fields['height'])
  return registeredAt === null
    ? { id: claims.id, reason: 'its height is invalid' }
    : { ...claims, registeredAt }
}

/** Reads the attributes of one event. */
export function readAnnouncedView(fields: JsonObject): AnnouncedView | RefusedView {
  const claims = readClaims(fields)
  return 'reason' in claims ? claims : { ...claims, wire: wireOf(fields) }
}

function readClaims(fields: JsonObject): Pick<ListedView, 'id' | 'sender' | 'name'> | RefusedView {
  const claimed = first(fields, ['address', 'contract_address', 'view_id', 'key'])
  const id = canonicalID(claimed)
  if (id === null) return { id: beginningOf(claimed), reason: 'its ID is invalid' }
  const sender = accountOf(first(fields, ['creator']))
  if (sender === null) return { id, reason: 'its creator is not an account' }
  const name = first(fields, ['name'])
  // Old generations do not send it.
  if (name !== '' && !namePattern.test(name))
    return { id, reason: 'its name is not that of a type' }
  return { id, sender, name }
}

/** A copy: a slice of a text keeps all of it in memory. */
function beginningOf(text: string): string {
  return Buffer.from(text.slice(0, shownCharacters)).toString()
}

/** The wire bytes of a View or of an event; null without any, and where there are more than a View may have. */
export function wireOf(value: unknown): Uint8Array | null {
  return bytesOf(first(membersOf(value), ['data', 'view']))
}

/** An ID in the one form in which IDs are compared; null for none. */
function canonicalID(text: string): string | null {
  if (text.length > maxIDCharacters) return null
  const parsed = parseViewID(prefixedAddress.exec(text)?.[1] ?? text)
  return parsed?.address ?? parsed?.id ?? null
}

/** The first of these that is there, as text; empty without any. */
function first(fields: JsonObject, names: readonly string[]): string {
  const found = names.map((name) => fields[name]).find((value) => value !== undefined)
  return typeof found === 'string' ? found : ''
}

/** Old generations write their creators in Bech32. */
function accountOf(text: string): string | null {
  const account = /^0x[0-9a-f]{40}$/i.test(text) ? text.toLowerCase() : fromBech32(text)
  return account === noSender ? null : account
}

function heightOf(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** Buffer skips what is no base64, so what it makes of it is compared. */
function bytesOf(text: string): Uint8Array | null {
  if (text === '' || text.length > maxWireCharacters) return null
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? new Uint8Array(bytes) : null
}
