/** Compares text in a View's rows with text that is searched for, byte by byte. */
import { createByteReader, major, skipString } from '../../primitives/cbor.ts'
import { isHexText } from './hex-text.ts'

/** Whether the value between two places of a row is the text. Letters are compared in lower case where the text is hex. */
export function createTextTest(text: string): (bytes: Buffer, at: number, end: number) => boolean {
  const wanted = Buffer.from(text)
  const isSame = isHexText(text) ? isSameHex : isSameByte
  return (bytes, at, end) => {
    const reader = createByteReader(bytes, at, end)
    if (skipString(reader, major.text) !== wanted.length) return false
    const start = reader.at - wanted.length
    for (let index = 0; index < wanted.length; index++) {
      if (!isSame(bytes[start + index] ?? 0, wanted[index] ?? 0)) return false
    }
    return true
  }
}

const isSameByte = (byte: number, wanted: number): boolean => byte === wanted

const caseBit = 0x20
const firstLetter = 0x41
/** `wanted` is in lower case. */
const isSameHex = (byte: number, wanted: number): boolean =>
  byte === wanted || (byte >= firstLetter && (byte | caseBit) === wanted)
