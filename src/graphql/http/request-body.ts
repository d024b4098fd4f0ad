/**
 * The body of a request: received within the memory that all requests share, and read as JSON within
 * bounds that keep that short.
 */
import type { Readable } from 'node:stream'
import { errorCodes } from 'fastify'
import { hasMoreParts } from '../../json-parts.ts'
import { maxBodyParts, refusal } from '../budget/limits.ts'
import type { MemoryAccount } from '../budget/memory-pool.ts'

/** Memory of a body and of what is made of it, for each of its bytes. */
const bytesPerByte = 4

/**
 * Receives a body. Rejects with GRAPHQL_BUSY, and with fastify's error for a body that is too large;
 * the rest of it is then read and dropped, so that the client gets to reading the error.
 */
export function receiveBody(
  body: Readable,
  { maxBytes, account }: { readonly maxBytes: number; readonly account: MemoryAccount },
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const pieces: Buffer[] = []
  let length = 0
  const refuse = (error: unknown): void => {
    body.off('data', add)
    pieces.length = 0
    reject(error)
  }
  const add = (piece: Buffer): void => {
    length += piece.length
    try {
      if (length > maxBytes) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
      account.reserve(piece.length * bytesPerByte)
      pieces.push(piece)
    } catch (error) {
      refuse(error)
    }
  }
  body.on('data', add)
  body.once('error', refuse)
  body.once('end', () => resolve(Buffer.concat(pieces)))
  return promise
}

/** The value of a JSON text; undefined for other text. Throws GraphQLError for too many values. */
export function parseJson(text: string): unknown {
  if (text.length > maxBodyParts && hasMoreParts(text, maxBodyParts)) throw tooManyParts()
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const tooManyParts = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The body has more than ${maxBodyParts} values and brackets.`,
    'Ask for parts of long lists in several requests.',
  )
