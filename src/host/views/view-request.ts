/**
 * The body of a request that posts a View: its wire bytes as text, or its parts. The sender is the zero address
 * unless the body names one.
 *
 *   {"wire": "<base64, or 0x and hex>", "sender": "0x…"}
 *   {"query": "…", "sdl": "…", "lenses": [{"wasm": "<base64>", "args": {…}}], "sender": "0x…"}
 */
import { ServiceError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../json-object.ts'
import type { Registration } from '../../views/registration.ts'
import { type View, viewLimits } from '../../views/view.ts'
import { noSender } from '../../views/view-id.ts'
import { encodeView } from '../../views/wire.ts'

/** Largest body: all modules as base64, with texts and arguments whose characters are all escaped. */
export const maxViewBody: number = Math.ceil((4 / 3) * viewLimits.blob) + 4 * 1024 * 1024

const fields = ['wire', 'sender', 'query', 'sdl', 'lenses']

/**
 * What a parsed body registers.
 * @throws ServiceError `HOST_VIEW_REFUSED` with the field and what is accepted there; `VIEWS_TOO_LARGE`.
 */
export function readViewRequest(body: unknown): Registration {
  const given = objectOf('the body', body)
  const unknown = Object.keys(given).find((name) => !fields.includes(name))
  if (unknown !== undefined) throw refused(`the field ${unknown}`, `one of ${fields.join(', ')}`)
  const { wire, sender = noSender } = given
  if (typeof sender !== 'string' || !/^0x[0-9a-f]{40}$/i.test(sender))
    throw refused('sender', 'an address: 0x and 40 hex digits')
  return {
    sender,
    registeredAt: null,
    wire: wire === undefined ? encodeView(viewOf(given)) : bytesOf('wire', wire),
  }
}

function viewOf({ query, sdl, lenses = [] }: JsonObject): View {
  if (!Array.isArray(lenses)) throw refused('lenses', 'a list')
  return {
    query: textOf('query', query),
    sdl: textOf('sdl', sdl),
    lenses: lenses.map((lens: unknown, index) => {
      const name = `lenses[${index}]`
      const { wasm, args } = objectOf(name, lens)
      return { wasm: bytesOf(`${name}.wasm`, wasm), args: argumentsOf(`${name}.args`, args) }
    }),
  }
}

/** Text stays as it is, since the IDs depend on it. */
function argumentsOf(name: string, args: unknown): string {
  if (args === undefined || args === null) return ''
  return typeof args === 'string' ? args : JSON.stringify(objectOf(name, args))
}

function objectOf(name: string, value: unknown): JsonObject {
  if (!isObject(value)) throw refused(name, 'a JSON object')
  return value
}

function textOf(name: string, value: unknown): string {
  if (typeof value !== 'string')
    throw refused(name, 'text, beside sdl and lenses; or wire in place of all three')
  return value
}

function bytesOf(name: string, value: unknown): Uint8Array {
  const text = typeof value === 'string' ? value : ''
  const isHex = /^0x(?:[0-9a-f]{2})+$/i.test(text)
  const bytes = Buffer.from(isHex ? text.slice(2) : text, isHex ? 'hex' : 'base64')
  // Buffer skips what is no base64.
  if (!isHex && (text === '' || bytes.toString('base64') !== text))
    throw refused(name, 'base64 with padding, or 0x and hex')
  return new Uint8Array(bytes)
}

function refused(name: string, accepted: string): ServiceError {
  return new ServiceError('HOST_VIEW_REFUSED', `${name}: accepted is ${accepted}`, {
    facts: { field: name },
    remedy: 'See the page on Views for the two forms of the body.',
  })
}
