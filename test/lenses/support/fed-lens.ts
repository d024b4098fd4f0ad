/** A lens outside of any Host: what goes in and what comes out, item by item. */
import { readFileSync } from 'node:fs'

/** What a lens answers: a document, nothing, an error, or that the stream is over. */
export type Item =
  | { readonly type: 'document'; readonly text: string }
  | { readonly type: 'nil' }
  | { readonly type: 'error'; readonly text: string }
  | { readonly type: 'end' }

interface LensExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly alloc: (size: number) => number
  readonly transform: () => number
  readonly set_param: (item: number) => number
}

interface FedLens {
  /** Gives arguments as they are written and answers what the lens says of them. */
  set(args: string): Item
  /** One call of `transform`, which takes as many of these as it wants; then the stream is over. */
  transform(source: readonly Item[] | Iterator<Item>): Item
  /** The bytes of its memory. */
  memoryBytes(): number
}

export const end: Item = { type: 'end' }
export const nil: Item = { type: 'nil' }
export const document = (value: unknown): Item => ({
  type: 'document',
  text: JSON.stringify(value),
})
export const error = (text: string): Item => ({ type: 'error', text })

/** The lens of this name that is checked in, without arguments. */
export function openLens(name: string): FedLens {
  return openModule(compiled(name))
}

/** A lens of these bytes. */
export function openModule(module: WebAssembly.Module): FedLens {
  let source: Iterator<Item> = [].values()
  const write = (item: Item): number => writeItem(exports, item)
  const instance = new WebAssembly.Instance(module, {
    lens: { next: () => write(source.next().value ?? end) },
  })
  const exports = instance.exports as unknown as LensExports
  return {
    set: (text) => readItem(exports, exports.set_param(write({ type: 'document', text }))),
    transform: (items) => {
      source = 'next' in items ? items : items.values()
      return readItem(exports, exports.transform())
    },
    memoryBytes: () => exports.memory.buffer.byteLength,
  }
}

/** The lens with arguments that it takes. */
export function openSetLens(name: string, args: object): FedLens {
  const lens = openLens(name)
  const answer = lens.set(JSON.stringify(args))
  if (answer.type !== 'nil') throw new Error(`${name} answers ${JSON.stringify(answer)}`)
  return lens
}

/** Everything that a lens makes of documents fed at once, before the end of the stream. */
export function streamed(lens: FedLens, documents: readonly unknown[]): Item[] {
  return untilEnd(lens, documents.map(document).values())
}

/** Everything that it makes of documents of which each is followed by the end of a stream. */
export function fedSingly(lens: FedLens, documents: readonly unknown[]): Item[] {
  return documents.flatMap((each) => untilEnd(lens, [document(each)].values()))
}

function untilEnd(lens: FedLens, source: Iterator<Item>): Item[] {
  const answers: Item[] = []
  for (;;) {
    const item = lens.transform(source)
    if (item.type === 'end') return answers
    if (item.type !== 'nil') answers.push(item)
  }
}

/** The JSON of documents; anything else as it is. */
export function values(items: readonly Item[]): unknown[] {
  return items.map((item) => (item.type === 'document' ? JSON.parse(item.text) : item))
}

const modules = new Map<string, WebAssembly.Module>()

function compiled(name: string): WebAssembly.Module {
  const known = modules.get(name)
  if (known !== undefined) return known
  const module = new WebAssembly.Module(Uint8Array.from(readLens(name)))
  modules.set(name, module)
  return module
}

/** The bytes that are checked in. */
export function readLens(name: string): Uint8Array {
  return readFileSync(new URL(`../../../src/lenses/${name}.wasm`, import.meta.url))
}

function writeItem({ alloc, memory }: LensExports, item: Item): number {
  if (item.type === 'end') {
    const at = alloc(1) >>> 0
    new Uint8Array(memory.buffer)[at] = 127
    return at
  }
  const content = Buffer.from('text' in item ? item.text : '')
  const at = alloc(5 + content.length) >>> 0
  const bytes = Buffer.from(memory.buffer)
  bytes.writeInt8({ document: 1, nil: 0, error: -1 }[item.type], at)
  bytes.writeUInt32LE(content.length, at + 1)
  content.copy(bytes, at + 5)
  return at
}

function readItem({ memory }: LensExports, pointer: number): Item {
  const bytes = Buffer.from(memory.buffer)
  const at = pointer >>> 0
  const type = bytes.readInt8(at)
  if (type === 127) return end
  if (type === 0) return nil
  if (type > 1) throw new Error(`the lens answers an item of type ${type}`)
  const length = bytes.readUInt32LE(at + 1)
  if (at + 5 + length > bytes.length) throw new Error('the item reaches beyond the memory')
  const text = bytes.toString('utf8', at + 5, at + 5 + length)
  return { type: type === 1 ? 'document' : 'error', text }
}
