/**
 * The wire bytes of a View, version 1 (`VWL`): what is registered, and what both IDs are made of. All integers are
 * little-endian: magic, version, query, SDL, lens count, each lens' number and arguments, codec, blob of modules.
 */

import { type BlobCodec, blobCodecs, decodeBlob, encodeBlob } from './lens-blob.ts'
import { type View, viewLimits } from './view.ts'
import { checkSize, createWireReader, malformed } from './wire-reader.ts'

const magic = [0x56, 0x57, 0x4c]
const version = 1

/**
 * Encodes a View. The bytes, and with them the IDs, depend on the version of Zstandard at work, so whoever needs
 * the same ID again has to keep them.
 * @throws ServiceError `VIEWS_TOO_LARGE` where a part or the whole is beyond `viewLimits`.
 */
export function encodeView({ query, sdl, lenses }: View, codec: BlobCodec = 'zstd'): Uint8Array {
  checkLensCount(lenses.length)
  const modules = lenses.map(({ wasm }) => wasm)
  const wire = Buffer.concat([
    Uint8Array.from([...magic, version]),
    sizedText('the query', query, viewLimits.query),
    sizedText('the SDL', sdl, viewLimits.sdl),
    uint16(lenses.length),
    ...lenses.flatMap(({ args }, index) => [
      uint32(index + 1),
      sizedText(`the arguments of lens ${index + 1}`, args, viewLimits.args),
    ]),
    Uint8Array.of(blobCodecs.indexOf(codec)),
    sized(encodeBlob(modules, codec)),
  ])
  checkSize('the View', wire.length, viewLimits.wire)
  return new Uint8Array(wire)
}

/**
 * Decodes wire bytes of anybody. Whether query, SDL and modules mean anything is not looked at.
 * @throws ServiceError `VIEWS_WIRE_MALFORMED`; `VIEWS_TOO_LARGE`, before anything of that size is held.
 */
export function decodeView(wire: Uint8Array): View {
  checkSize('the View', wire.length, viewLimits.wire)
  const reader = createWireReader(wire)
  if (magic.some((byte) => byte !== reader.u8('the magic')))
    throw malformed('they do not begin with VWL')
  const found = reader.u8('the version')
  if (found !== version)
    throw malformed(`version ${found} is not known, only ${version}`, { version: found })
  const query = reader.text('the query', viewLimits.query)
  const sdl = reader.text('the SDL', viewLimits.sdl)
  const count = reader.u16('the number of lenses')
  checkLensCount(count)
  const args = Array.from({ length: count }, (_, index) => {
    const number = reader.u32(`the number of lens ${index + 1}`)
    if (number !== index + 1)
      throw malformed(`lens ${index + 1} has the number ${number}`, { number })
    return reader.text(`the arguments of lens ${index + 1}`, viewLimits.args)
  })
  const codecByte = reader.u8('the codec')
  const codec = blobCodecs[codecByte]
  if (codec === undefined) throw malformed(`codec ${codecByte} is not known`, { codec: codecByte })
  const blob = reader.sized('the lenses', viewLimits.blob)
  reader.end()
  const modules = decodeBlob(blob, codec, count)
  return { query, sdl, lenses: modules.map((wasm, index) => ({ wasm, args: args[index] ?? '' })) }
}

function checkLensCount(count: number): void {
  if (count > viewLimits.lenses)
    throw malformed(`${count} lenses are more than ${viewLimits.lenses}`, { count })
}

function sizedText(field: string, text: string, limit: number): Uint8Array {
  const bytes = Buffer.from(text, 'utf8')
  checkSize(field, bytes.length, limit)
  return sized(bytes)
}

function sized(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([uint32(bytes.length), bytes])
}

function uint16(value: number): Uint8Array {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
