/** A View of the events of a contract, made from its ABI: query, SDL and the lens `decode_log` with its arguments. */
import { readFile } from 'node:fs/promises'
import { didYouMean, nearestName } from '../../did-you-mean.ts'
import { ServiceError } from '../../errors.ts'
import { isReservedTypeName } from '../../views/names/reserved-names.ts'
import { usageError } from '../cli/exit-code.ts'
import type { ViewDraft } from '../project/project-view.ts'

const decodeLog = new URL('../../lenses/decode_log.wasm', import.meta.url)

interface EventView {
  /** The View's. */
  readonly name: string
  /** JSON: an ABI, or what a compiler writes with one in it. */
  readonly abi: string
  readonly event: string
  /** The contract; undefined for every contract that emits the event. */
  readonly address: string | undefined
}

/** @throws ServiceError `TOOLKIT_ABI_UNUSABLE` where it is no ABI, or has no such event. */
export async function viewOfEvent({ name, abi, event, address }: EventView): Promise<ViewDraft> {
  const contract = address === undefined ? null : contractAddress(address)
  const entries = eventsOf(readAbi(abi), event)
  const filter = contract === null ? '' : `(filter: {address: {_eq: "${contract}"}})`
  return {
    query: `Log${filter} { address topics data blockNumber logIndex transactionHash }`,
    sdl: sdlOf(typeNameOf(name, event), event, contract),
    lenses: [
      {
        label: 'decode',
        args: { abi: JSON.stringify(entries), unmatched: 'drop' },
        wasm: new Uint8Array(await readFile(decodeLog)),
      },
    ],
  }
}

function contractAddress(address: string): string {
  if (!/^0x[0-9a-f]{40}$/i.test(address))
    throw usageError(`--address takes no ${JSON.stringify(address)}`, 'It is 0x and 40 hex digits.')
  return address.toLowerCase()
}

function readAbi(text: string): readonly unknown[] {
  const content = parsed(text)
  const abi = Array.isArray(content) ? content : (content as { abi?: unknown } | null)?.abi
  if (!Array.isArray(abi))
    throw unusable('the file holds no ABI', 'It is a JSON array, or an object with one in abi.')
  return abi
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unusable(
      'the file of the ABI is not JSON',
      'Give the JSON that a compiler writes.',
      cause,
    )
  }
}

/** All events of that name: overloaded ones are told apart by the lens. */
function eventsOf(abi: readonly unknown[], event: string): readonly unknown[] {
  const events = abi.flatMap((entry) => {
    const { type, name } = (entry ?? {}) as { type?: unknown; name?: unknown }
    return type === 'event' && typeof name === 'string' ? [{ name, entry }] : []
  })
  const found = events.filter(({ name }) => name === event)
  if (found.length > 0) return found.map(({ entry }) => entry)
  const names = [...new Set(events.map(({ name }) => name))]
  const meant = didYouMean(nearestName(event, names))
  const known = names.length === 0 ? 'none' : names.slice(0, 20).join(', ')
  throw unusable(
    `the ABI has no event ${JSON.stringify(event)}${meant}`,
    `Its events are: ${known}.`,
  )
}

/** The View's name where a type may have it, as it is what rows are asked for by. */
function typeNameOf(name: string, event: string): string {
  const isName = /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && !name.includes('__')
  if (isName && !isReservedTypeName(name)) return name
  const plain = event.replaceAll(/[^A-Za-z0-9]/g, '')
  return `${plain}Event`
}

function sdlOf(type: string, event: string, contract: string | null): string {
  const of = contract === null ? '' : ` of ${contract}`
  return `"Events ${event}${of}."
type ${type} @materialized(if: true) {
  logAddress: String @index
  event: String
  signature: String
  arguments: JSON
  hash: String
  blockNumber: Int
  logIndex: Int
}`
}

function unusable(message: string, remedy: string, cause?: unknown): ServiceError {
  return new ServiceError('TOOLKIT_ABI_UNUSABLE', message, { remedy, cause })
}
