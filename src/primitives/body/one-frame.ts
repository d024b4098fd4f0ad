/** Whether bytes are one Zstandard frame, by its structure alone (RFC 8878, section 3.1.1). */

const magic = 0xfd2fb528
const magicBytes = 4
const checksumBytes = 4
const blockHeadBytes = 3
/** Bytes of a dictionary's ID and of the content's size, by the flag for them. */
const dictionaryBytes = [0, 1, 2, 4] as const
const sizeBytes = [0, 2, 4, 8] as const
const blockType = { run: 1, reserved: 3 } as const

/** False for what is cut off, for what follows the frame, and for anything else. */
export function isOneFrame(bytes: Buffer): boolean {
  if (bytes.length <= magicBytes || bytes.readUInt32LE() !== magic) return false
  const descriptor = bytes[magicBytes] ?? 0
  let at = magicBytes + 1 + headBytes(descriptor)
  let isLast = false
  while (!isLast) {
    if (at + blockHeadBytes > bytes.length) return false
    const head = bytes.readUIntLE(at, blockHeadBytes)
    const type = (head >>> 1) & 3
    if (type === blockType.reserved) return false
    isLast = (head & 1) === 1
    at += blockHeadBytes + (type === blockType.run ? 1 : head >>> 3)
  }
  const hasChecksum = (descriptor & 4) !== 0
  return at + (hasChecksum ? checksumBytes : 0) === bytes.length
}

/** Bytes of the frame's head behind its descriptor. */
function headBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 32) !== 0
  const sizeFlag = descriptor >>> 6
  const size = sizeFlag === 0 && isSingleSegment ? 1 : (sizeBytes[sizeFlag] ?? 0)
  return (isSingleSegment ? 0 : 1) + (dictionaryBytes[descriptor & 3] ?? 0) + size
}
