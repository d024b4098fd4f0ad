/** A View as its author writes it: a query, the type of its rows, and the lenses between them. */
import { isObject } from '../json-object.ts'

/** One step of a View. */
interface Lens {
  /** A WebAssembly module. */
  readonly wasm: Uint8Array
  /** A JSON object as text, given to the module before its first document; empty for none. */
  readonly args: string
}

/** What the wire bytes hold; the name of a View is that of the type in its SDL. */
export interface View {
  /** A selection without outer braces, as in `Log { address topics data }`. */
  readonly query: string
  /** One GraphQL object type: the rows. */
  readonly sdl: string
  /** In the order in which documents pass them. */
  readonly lenses: readonly Lens[]
}

/**
 * What the registry chain accepts, tried at its edges; bytes, but for `lenses`. What is larger would be
 * registered nowhere, so no Host takes it either.
 */
export const viewLimits: {
  readonly wire: number
  readonly query: number
  readonly sdl: number
  /** Of each lens. */
  readonly args: number
  readonly lenses: number
  /** All modules together, both compressed and not. */
  readonly blob: number
} = {
  wire: 384 * 1024,
  query: 8 * 1024,
  sdl: 8 * 1024,
  args: 64 * 1024,
  lenses: 256,
  blob: 10 * 1024 * 1024,
}

/** The arguments of a lens as an object, null where there are none, undefined where they are no object. */
export function lensArguments(args: string): Readonly<Record<string, unknown>> | null | undefined {
  if (args === '') return null
  try {
    const value: unknown = JSON.parse(args)
    return isObject(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
