/**
 * The outer shape of protobuf messages: which field stands where, without knowing what they mean. Another reader gets
 * the same bytes afterwards, so what it could read in another way is refused, at every depth.
 */

/** What the known fields of a message hold, by number; all others may hold anything. */
export interface MessageShape {
  readonly [field: number]: 'uint32' | 'uint64' | 'bytes' | MessageShape
}

export interface ProtobufField {
  readonly number: number
  /** The value of a varint; 0 for other kinds. */
  readonly value: number
  /** The field with its tag. */
  readonly whole: Uint8Array
  /** The content of a length-delimited field; empty for other kinds. */
  readonly content: Uint8Array
  /** The fields of a message that is known; empty for other kinds. */
  readonly fields: readonly ProtobufField[]
}

const wireTypes = { varint: 0, fixed64: 1, delimited: 2, fixed32: 5 } as const
const maxVarintBytes = 8
/** Of tags, lengths and other numbers of 32 bits: readers differ in what they make of longer ones. */
const maxUint32Bytes = 5
const uint32End = 2 ** 32
/** Most fields of one message, with those of the messages in it: the longest honest list has 5,000 IDs. */
const maxFields = 8192

/**
 * The fields of a message (Protocol Buffers, "Encoding") as views; null where the bytes are none, or not of this shape.
 * Groups and varints of more than eight bytes, which nobody writes any more, are none, nor are more
 * than 8,192 fields.
 */
export function protobufFields(
  bytes: Uint8Array,
  shape: MessageShape,
): readonly ProtobufField[] | null {
  return readFields(bytes, shape, { left: maxFields })
}

function readFields(
  bytes: Uint8Array,
  shape: MessageShape,
  budget: { left: number },
): readonly ProtobufField[] | null {
  const found: ProtobufField[] = []
  let at = 0
  while (at < bytes.byteLength) {
    budget.left -= 1
    const field = budget.left < 0 ? null : fieldAt(bytes, at)
    if (field === null) return null
    const kind = shape[field.number]
    const fields = typeof kind === 'object' ? readFields(field.content, kind, budget) : []
    if (fields === null || (kind !== undefined && !isOfKind(kind, field))) return null
    found.push({ ...field, fields })
    at += field.whole.byteLength
  }
  return found
}

interface WireField extends Omit<ProtobufField, 'fields'> {
  readonly wire: number
  /** Bytes of the value of a varint. */
  readonly valueBytes: number
}

function isOfKind(kind: MessageShape[number], { wire, valueBytes }: WireField): boolean {
  if (kind === 'uint64') return wire === wireTypes.varint
  if (kind === 'uint32') return wire === wireTypes.varint && valueBytes <= maxUint32Bytes
  return wire === wireTypes.delimited
}

function fieldAt(bytes: Uint8Array, begin: number): WireField | null {
  const tag = uint32At(bytes, begin)
  if (tag === null || tag.value < 8) return null
  const wire = tag.value % 8
  const number = Math.floor(tag.value / 8)
  if (wire === wireTypes.varint) {
    const varint = varintAt(bytes, tag.end)
    if (varint === null) return null
    const { value, end } = varint
    const whole = bytes.subarray(begin, end)
    return { number, wire, value, whole, content: empty, valueBytes: end - tag.end }
  }
  const start = wire === wireTypes.delimited ? uint32At(bytes, tag.end) : fixedAt(wire, tag.end)
  if (start === null || start.value > bytes.byteLength - start.end) return null
  const end = start.end + start.value
  const content = wire === wireTypes.delimited ? bytes.subarray(start.end, end) : empty
  return { number, wire, value: 0, whole: bytes.subarray(begin, end), content, valueBytes: 0 }
}

const empty = new Uint8Array()

interface Varint {
  readonly value: number
  /** Where the byte after it is. */
  readonly end: number
}

/** The size of a value without a length of its own; null for unknown kinds. */
function fixedAt(wire: number, end: number): Varint | null {
  if (wire === wireTypes.fixed64) return { value: 8, end }
  return wire === wireTypes.fixed32 ? { value: 4, end } : null
}

function uint32At(bytes: Uint8Array, begin: number): Varint | null {
  const varint = varintAt(bytes, begin)
  if (varint === null || varint.end - begin > maxUint32Bytes) return null
  return varint.value < uint32End ? varint : null
}

function varintAt(bytes: Uint8Array, begin: number): Varint | null {
  let value = 0
  const last = Math.min(bytes.byteLength, begin + maxVarintBytes)
  for (let at = begin; at < last; at += 1) {
    const octet = bytes[at] ?? 0
    value += (octet & 0x7f) * 2 ** (7 * (at - begin))
    if (octet < 0x80) return { value, end: at + 1 }
  }
  return null
}
