/** The first topics of a contract's events, from the JSON of its ABI. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { isObject, type JsonObject } from '../json-object.ts'

/**
 * keccak256 of the signature of each event, 0x and lower-case digits; null where logs of others fit too, because an event is
 * anonymous, and where the ABI is read differently by different readers.
 */
export function eventTopics(abi: unknown): string[] | null {
  const entries = Array.isArray(abi) ? abi : parsed(abi)
  if (!Array.isArray(entries)) return null
  const topics = new Set<string>()
  for (const entry of entries) {
    if (!isObject(entry)) return null
    if (entry['type'] !== 'event') continue
    const types = typesOf(entry['inputs'] ?? [])
    if (typeof entry['name'] !== 'string' || types === null || entry['anonymous'] === true)
      return null
    topics.add(`0x${bytesToHex(keccak_256(utf8ToBytes(`${entry['name']}${types}`)))}`)
  }
  return [...topics]
}

/** ABIs need no escapes; what has some is left to the lens. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string' || text.includes('\\')) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The types of a list of parameters, in brackets; null where one has none. */
function typesOf(parameters: unknown): string | null {
  if (!Array.isArray(parameters)) return null
  const types = parameters.map((parameter) => (isObject(parameter) ? typeOf(parameter) : null))
  return types.includes(null) ? null : `(${types.join(',')})`
}

function typeOf({ type, components }: JsonObject): string | null {
  if (typeof type !== 'string') return null
  const [, base = '', suffix = ''] = /^([a-z0-9]+)((?:\[\d*\])*)$/.exec(type) ?? []
  if (base === '') return null
  if (base === 'uint' || base === 'int') return `${base}256${suffix}`
  if (base !== 'tuple') return `${base}${suffix}`
  const types = typesOf(components)
  return types === null ? null : `${types}${suffix}`
}
