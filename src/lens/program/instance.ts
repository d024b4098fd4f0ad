/**
 * One instance of a lens: its memory, and the calls of the ABI. An item lies in memory as a type (one byte), the
 * length of what follows (four bytes, little-endian), and that; nil and the end of the stream are the type alone.
 */

import { onOneLine } from '../../one-line.ts'
import { enterLens } from '../running-lens.ts'
import { abiError, exportMissing, lensError, startSection, thrownError } from './lens-error.ts'
import { runLimits } from './run-limits.ts'

const maxErrorCharacters = 500

/** A compiled lens. */
export interface CompiledLens {
  /** Its place in the View, 1 being the first. */
  readonly place: number
  readonly module: WebAssembly.Module
  /** A JSON object as text, or empty: then `set_param` is not called. */
  readonly args: string
}

/** Something to write into a lens: a document, or bytes that another lens returned. */
export type SourceDocument = string | Uint8Array

/** What a lens returned. The bytes are its memory: they hold until it is called again. */
export type LensOutput = Uint8Array | 'nil' | 'end'

export interface LensInstance {
  /** Asks for one output; `next` is what `lens.next` does meanwhile. */
  transform(next: () => number): LensOutput
  /** Writes a document into the memory; returns its address for `lens.next`. */
  write(document: SourceDocument): number
  /** The same for the end of the stream. */
  writeEnd(): number
  /** The same for nil, which a Host leaves out: only a lens that is examined gets it. */
  writeNil(): number
}

/** Memory that all instances of a run share; `grew` throws where it is too much. */
export interface MemoryMeter {
  grew(place: number, bytes: number): void
}

const type = { nil: 0, document: 1, end: 127 } as const
const headerBytes = 5
const negative = 0x80

/** `checkModules` sees to its type. */
type LensFunction = (...values: number[]) => number

/** An instance with the state that its calls share. */
interface Parts {
  readonly place: number
  readonly hasArguments: boolean
  readonly memory: WebAssembly.Memory
  readonly alloc: LensFunction
  readonly meter: MemoryMeter
  /** The memory as it is now: growing replaces the buffer, and what was a view of it is empty. */
  view: Buffer<ArrayBuffer>
  bytes: number
}

/**
 * Instantiates a lens: runs its start section and gives it its arguments.
 * @throws ServiceError `LENS_TRAPPED`, `LENS_OUTPUT_INVALID`, `LENS_OUTPUT_LIMIT`, `LENS_ARGUMENTS_REFUSED`.
 */
export function openInstance(lens: CompiledLens, meter: MemoryMeter): LensInstance {
  const { place } = lens
  const tooEarly = (): never => {
    throw abiError(place, 'calls lens.next outside of transform')
  }
  let onNext: () => number = tooEarly
  const exports = instantiate(lens, () => onNext())
  const { memory } = exports
  if (!(memory instanceof WebAssembly.Memory)) throw exportMissing(place, 'memory', 'memory')
  const alloc = exportedFunction(place, exports, 'alloc')
  const transform = exportedFunction(place, exports, 'transform')
  const hasArguments = lens.args !== ''
  const parts: Parts = {
    ...{ place, hasArguments, memory, alloc, meter },
    ...{ view: Buffer.alloc(0), bytes: 0 },
  }
  current(parts)
  if (hasArguments) setParam(parts, exportedFunction(place, exports, 'set_param'), lens.args)
  const writeType = (kind: number, bytes: number): number => {
    const before = onNext
    onNext = tooEarly
    const pointer = allocate(parts, bytes)
    parts.view.fill(0, pointer, pointer + bytes)
    parts.view[pointer] = kind
    onNext = before
    return pointer
  }
  return {
    transform(next) {
      onNext = next
      const pointer = call(place, 'transform', transform)
      onNext = tooEarly
      return readOutput(parts, pointer)
    },
    // Until the address is back, a call of `lens.next` would be one within another.
    write(document) {
      const before = onNext
      onNext = tooEarly
      const pointer = writeDocument(parts, document)
      onNext = before
      return pointer
    },
    writeEnd: () => writeType(type.end, 1),
    // Its length is written as well: some lenses read one.
    writeNil: () => writeType(type.nil, headerBytes),
  }
}

function instantiate(lens: CompiledLens, next: () => number): WebAssembly.Exports {
  const before = enterLens(lens.place)
  try {
    return new WebAssembly.Instance(lens.module, { lens: { next } }).exports
  } catch (error) {
    throw thrownError(lens.place, startSection, error)
  } finally {
    enterLens(before)
  }
}

function exportedFunction(place: number, exports: WebAssembly.Exports, name: string): LensFunction {
  const found = exports[name]
  if (typeof found === 'function') return found as LensFunction
  throw exportMissing(place, 'function', name)
}

/** Calls into the lens; the address it returns, as an unsigned number. */
function call(place: number, name: string, body: LensFunction, ...values: number[]): number {
  const before = enterLens(place)
  try {
    return body(...values) >>> 0
  } catch (error) {
    throw thrownError(place, name, error)
  } finally {
    enterLens(before)
  }
}

/** The memory after a call, which may have made it grow. */
function current(parts: Parts): Buffer<ArrayBuffer> {
  // Empty where it grew; asking the memory for its buffer takes longer.
  if (parts.view.length > 0) return parts.view
  const { buffer } = parts.memory
  parts.meter.grew(parts.place, buffer.byteLength - parts.bytes)
  parts.bytes = buffer.byteLength
  parts.view = Buffer.from(buffer)
  return parts.view
}

function allocate(parts: Parts, bytes: number): number {
  const { place } = parts
  const pointer = call(place, 'alloc', parts.alloc, bytes)
  const { length } = current(parts)
  if (pointer + bytes <= length) return pointer
  throw abiError(
    place,
    `returns the address ${pointer} for ${bytes} bytes from alloc, and its memory ends at ${length}`,
  )
}

function writeDocument(parts: Parts, document: SourceDocument): number {
  const length = Buffer.byteLength(document)
  const pointer = allocate(parts, headerBytes + length)
  const { view } = parts
  view[pointer] = type.document
  view.writeUInt32LE(length, pointer + 1)
  if (typeof document === 'string') view.write(document, pointer + headerBytes, 'utf8')
  else view.set(document, pointer + headerBytes)
  return pointer
}

function readOutput(parts: Parts, pointer: number): LensOutput {
  const { place } = parts
  const memory = current(parts)
  const kind = memory[pointer]
  if (kind === undefined)
    throw abiError(place, `returns the address ${pointer}, and its memory ends at ${memory.length}`)
  if (kind === type.end) return 'end'
  if (kind === type.nil) return 'nil'
  if (kind === type.document) return readPayload(place, memory, pointer)
  if (kind < negative) throw abiError(place, `returns an item of the unknown type ${kind}`)
  throw lensError(
    'LENS_FAILED',
    place,
    `failed: ${errorText(place, memory, pointer)}`,
    parts.hasArguments
      ? 'Change the query or the arguments so that the lens gets what it asks for.'
      : noArguments,
  )
}

const noArguments =
  'The View gives this lens no arguments: where it needs some, write them into the View as the args of the lens, a JSON object. Else change the query so that the lens gets what it asks for.'

function readPayload(place: number, memory: Buffer, pointer: number): Buffer {
  const start = pointer + headerBytes
  if (start > memory.length)
    throw abiError(
      place,
      `returns an item at ${pointer} that its memory, which ends at ${memory.length}, cuts off`,
    )
  const length = memory.readUInt32LE(pointer + 1)
  if (start + length > memory.length)
    throw abiError(
      place,
      `returns an item of ${length} bytes at ${pointer}, and its memory ends at ${memory.length}`,
    )
  if (length > runLimits.itemBytes)
    throw lensError(
      'LENS_OUTPUT_LIMIT',
      place,
      `returns an item of ${length} bytes, and ${runLimits.itemBytes} are accepted`,
      'Let the lens return several smaller documents.',
    )
  return memory.subarray(start, start + length)
}

function errorText(place: number, memory: Buffer, pointer: number): string {
  const text = readPayload(place, memory, pointer).toString('utf8', 0, 4096)
  return onOneLine(text, maxErrorCharacters)
}

function setParam(parts: Parts, setArguments: LensFunction, args: string): void {
  const { place } = parts
  const pointer = call(place, 'set_param', setArguments, writeDocument(parts, args))
  const memory = current(parts)
  const kind = memory[pointer]
  if (kind === undefined)
    throw abiError(
      place,
      `returns the address ${pointer} from set_param, and its memory ends at ${memory.length}`,
    )
  if (kind < negative) return
  throw lensError(
    'LENS_ARGUMENTS_REFUSED',
    place,
    `refuses its arguments: ${errorText(place, memory, pointer)}`,
    'Register the View with the arguments that the lens asks for.',
  )
}
