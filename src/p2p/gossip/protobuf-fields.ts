/** The outer shape of protobuf messages: which field stands where, without knowing what they mean. */

export interface ProtobufField {
  readonly number: number
  /** The value of a varint; 0 for other kinds. */
  readonly value: number
  /** The field with its tag. */
  readonly whole: Uint8Array
  /** The content of a length-delimited field; empty for other kinds. */
  readonly content: Uint8Array
}

const wireTypes = { varint: 0, fixed64: 1, delimited: 2, fixed32: 5 } as const
const maxVarintBytes = 8
/** Most fields of one message: the longest honest list has 5,000 IDs. */
const maxFields = 8192

/**
 * The fields of a message (Protocol Buffers, "Encoding") as views; null where the bytes are none.
 * Groups and varints of more than eight bytes, which nobody writes any more, are none, nor are more
 * than 8,192 fields.
 */
export function protobufFields(bytes: Uint8Array): readonly ProtobufField[] | null {
  const fields: ProtobufField[] = []
  let at = 0
  while (at < bytes.byteLength) {
    const field = fields.length === maxFields ? null : fieldAt(bytes, at)
    if (field === null) return null
    fields.push(field)
    at += field.whole.byteLength
  }
  return fields
}

function fieldAt(bytes: Uint8Array, begin: number): ProtobufField | null {
  const tag = varintAt(bytes, begin)
  if (tag === null || tag.value < 8) return null
  const wire = tag.value % 8
  const hasVarint = wire === wireTypes.varint || wire === wireTypes.delimited
  const varint = hasVarint ? varintAt(bytes, tag.end) : { value: 0, end: tag.end }
  const size = varint === null ? null : sizeOf(wire, varint.value)
  if (varint === null || size === null || size > bytes.byteLength - varint.end) return null
  const end = varint.end + size
  const isDelimited = wire === wireTypes.delimited
  return {
    number: Math.floor(tag.value / 8),
    value: isDelimited ? 0 : varint.value,
    whole: bytes.subarray(begin, end),
    content: bytes.subarray(varint.end, isDelimited ? end : varint.end),
  }
}

/** Bytes after the tag, and after the varint where one follows it; null for unknown kinds. */
function sizeOf(wire: number, value: number): number | null {
  if (wire === wireTypes.varint) return 0
  if (wire === wireTypes.fixed64) return 8
  if (wire === wireTypes.fixed32) return 4
  return wire === wireTypes.delimited ? value : null
}

function varintAt(bytes: Uint8Array, begin: number): { value: number; end: number } | null {
  let value = 0
  const last = Math.min(bytes.byteLength, begin + maxVarintBytes)
  for (let at = begin; at < last; at += 1) {
    const octet = bytes[at] ?? 0
    value += (octet & 0x7f) * 2 ** (7 * (at - begin))
    if (octet < 0x80) return { value, end: at + 1 }
  }
  return null
}
