/**
 * The LCD of the registry chain, its REST interface: pages of the list of Views without their bytes, and one View with
 * them. Nothing is decompressed and no redirect is followed; size and time of each answer are bounded.
 */
import { Agent, request } from 'undici'
import { basicAuthorization } from '../basic-authorization.ts'
import { ServiceError } from '../errors.ts'
import { membersOf } from '../json-object.ts'
import { readBounded } from '../read-bounded.ts'
import { viewLimits } from '../views/view.ts'
import { maxAnswerValues, parseAnswerJson } from './answer-json.ts'
import {
  type ListedView,
  type RefusedView,
  readListedView,
  type SentView,
  wireOf,
} from './listed-view.ts'
import {
  answerMalformed,
  placeOf,
  rateLimited,
  refused,
  tooLarge,
  unreachable,
} from './registry-failure.ts'

interface LcdOptions {
  /** May have a path, and user:password, sent as basic authorization. */
  readonly url: string
  /** From a request to the last byte of its answer. */
  readonly timeoutMs: number
}

/** One page of the list. */
export interface ListPage {
  readonly views: readonly (ListedView | RefusedView)[]
  /** Where the next page begins; null after the last. */
  readonly nextKey: string | null
}

/** Each throws REGISTRY_UNREACHABLE, REGISTRY_REFUSED, REGISTRY_ANSWER_MALFORMED or REGISTRY_ANSWER_TOO_LARGE. */
export interface Lcd {
  /** At most `limit` Views from `key` on, or from the beginning where it is null. */
  page(key: string | null, limit: number, signal: AbortSignal): Promise<ListPage>
  /** The View of this ID; null where the chain has none. */
  view(id: string, signal: AbortSignal): Promise<SentView | RefusedView | null>
  close(): Promise<void>
}

const viewsPath = '/shinzonetwork/view/v1/views'
/** Of 500 Views without their bytes, each with the longest name of a type; larger pages are asked for by halves. */
const maxPageBytes = 4 * 1024 * 1024 + 256 * 1024
/** The bytes as base64, and what stands beside them. */
const maxViewBytes = Math.ceil((4 / 3) * viewLimits.wire) + 256 * 1024
/** Longer keys are none of a store whose keys are addresses. */
const maxKeyLength = 1024
const connections = 4

interface LcdState {
  readonly agent: Agent
  readonly base: string
  readonly place: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

/** Opens no connection before the first request. */
export function openLcd({ url, timeoutMs }: LcdOptions): Lcd {
  const target = new URL(url)
  const state: LcdState = {
    agent: new Agent({ connections, connect: { timeout: timeoutMs } }),
    base: `${target.origin}${target.pathname.replace(/\/+$/, '')}${viewsPath}`,
    place: placeOf(url),
    headers: { accept: 'application/json', ...basicAuthorization(target) },
    timeoutMs,
  }
  return {
    page: (key, limit, signal) => readPage(state, key, limit, signal),
    view: (id, signal) => readView(state, id, signal),
    close: () => state.agent.destroy(),
  }
}

async function readPage(
  state: LcdState,
  key: string | null,
  limit: number,
  signal: AbortSignal,
): Promise<ListPage> {
  const query = new URLSearchParams({ 'pagination.limit': String(limit) })
  if (key !== null) query.set('pagination.key', key)
  const answer = membersOf(await ask(state, `?${query}`, maxPageBytes, signal))
  const { views } = answer
  if (!Array.isArray(views)) throw answerMalformed(state.place, 'it has no list of Views')
  if (views.length > limit)
    throw answerMalformed(state.place, `a page of ${limit} has ${views.length} Views`)
  return { views: views.map(readListedView), nextKey: nextKeyOf(state, answer['pagination']) }
}

function nextKeyOf({ place }: LcdState, pagination: unknown): string | null {
  const { next_key: next = null } = membersOf(pagination)
  if (next === null || next === '') return null
  if (typeof next !== 'string' || next.length > maxKeyLength)
    throw answerMalformed(
      place,
      `the key of its next page is not a text of at most ${maxKeyLength} characters`,
    )
  return next
}

async function readView(
  state: LcdState,
  id: string,
  signal: AbortSignal,
): Promise<SentView | RefusedView | null> {
  const path = `/${encodeURIComponent(id)}?include_data=true`
  const answer = await ask(state, path, maxViewBytes, signal)
  if (answer === null) return null
  const { view } = membersOf(answer)
  const listed = readListedView(view)
  if ('reason' in listed) return listed
  if (listed.id !== id) throw answerMalformed(state.place, `it is another View than ${id}`)
  const wire = wireOf(view)
  return wire === null
    ? { id, reason: 'its bytes are not base64, or too many' }
    : { ...listed, wire }
}

/** The parsed body; null for 404. */
async function ask(
  state: LcdState,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<unknown> {
  const { agent, base, headers, place } = state
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(state.timeoutMs)])
  try {
    const options = { dispatcher: agent, headers, signal: deadline }
    const response = await request(`${base}${path}`, options)
    const body = await textWithin(response.body, maxBytes)
    const status = response.statusCode
    if (status === 404 && /"code"\s*:\s*5\b/.test(body ?? '')) return null
    // What the chain cannot pass on as one message has code 8; the caller asks for less. Others limit rates with 429.
    const isTooLarge = body === null || (status === 429 && /"code"\s*:\s*8\b/.test(body))
    if (isTooLarge) throw tooLarge(place, { maxBytes })
    if (status === 429) throw rateLimited(place, response.headers['retry-after'])
    if (status !== 200) throw refused(place, `HTTP status ${status}`, { status })
    return parseAnswerJson(body)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ServiceError) throw error
    if (error instanceof RangeError) throw tooLarge(place, { maxValues: maxAnswerValues })
    if (error instanceof SyntaxError) throw answerMalformed(place, 'it is not JSON', error)
    throw unreachable(place, 'REGISTRY_LCD_URL', error)
  }
}

/** Null for a body beyond the bound, of which the rest is not read. */
async function textWithin(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<string | null> {
  try {
    return (await readBounded(body, maxBytes)).toString()
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
