/** Reads little-endian fields out of bytes that nobody vouches for. */
import { ServiceError } from '../errors.ts'

/** Where in which bytes the next field is. */
interface WireReader {
  /** @throws ServiceError `VIEWS_WIRE_MALFORMED` where fewer bytes are left. */
  u8(field: string): number
  u16(field: string): number
  u32(field: string): number
  /** A length of four bytes, refused above the limit, and as many bytes: a view, not a copy. */
  sized(field: string, limit: number): Uint8Array
  /** UTF-8 of such bytes; what is none is refused. */
  text(field: string, limit: number): string
  /** @throws ServiceError `VIEWS_WIRE_MALFORMED` where bytes are left. */
  end(): void
}

/** Reads from the first byte on. */
export function createWireReader(source: Uint8Array): WireReader {
  const view = new DataView(source.buffer, source.byteOffset, source.byteLength)
  let offset = 0
  const take = (field: string, length: number): number => {
    if (length > source.length - offset)
      throw malformed(`they end within ${field}`, { field, length: source.length })
    const start = offset
    offset += length
    return start
  }
  const u32 = (field: string): number => view.getUint32(take(field, 4), true)
  const sized = (field: string, limit: number): Uint8Array => {
    const length = u32(field)
    checkSize(field, length, limit)
    const start = take(field, length)
    return source.subarray(start, start + length)
  }
  return {
    u8: (field) => view.getUint8(take(field, 1)),
    u16: (field) => view.getUint16(take(field, 2), true),
    u32,
    sized,
    text: (field, limit) => decodeText(field, sized(field, limit)),
    end() {
      const left = source.length - offset
      if (left > 0) throw malformed(`${left} bytes follow the last field`, { offset })
    },
  }
}

/** @throws ServiceError `VIEWS_TOO_LARGE` where a field is larger than a View may have it. */
export function checkSize(field: string, size: number, limit: number): void {
  if (size <= limit) return
  throw new ServiceError(
    'VIEWS_TOO_LARGE',
    `${field} has ${size} bytes, and ${limit} are accepted`,
    {
      facts: { field, size, limit },
      remedy: 'Make it smaller: the registry chain refuses what is larger.',
    },
  )
}

/** What is wrong with wire bytes. */
export function malformed(
  what: string,
  facts: Readonly<Record<string, string | number>> = {},
  cause?: unknown,
): ServiceError {
  return new ServiceError('VIEWS_WIRE_MALFORMED', `these are not wire bytes of a View: ${what}`, {
    facts,
    remedy: 'Get the bytes again from where the View was made or registered.',
    cause,
  })
}

function decodeText(field: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw malformed(`${field} is not UTF-8`, { field }, cause)
  }
}
