/** What this room uses of the WebAssembly JavaScript interface (https://www.w3.org/TR/wasm-js-api-2/); Node's types have none of it. */
declare namespace WebAssembly {
  interface ImportDescriptor {
    readonly module: string
    readonly name: string
    readonly kind: 'function' | 'table' | 'memory' | 'global' | 'tag'
  }

  interface ExportDescriptor {
    readonly name: string
  }

  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>)
    static exports(module: Module): ExportDescriptor[]
    static imports(module: Module): ImportDescriptor[]
  }

  class Memory {
    readonly buffer: ArrayBuffer
    grow(pages: number): number
  }

  class Table {
    readonly length: number
    grow(entries: number): number
  }

  type Exports = Readonly<Record<string, unknown>>

  class Instance {
    constructor(
      module: Module,
      imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
    )
    readonly exports: Exports
  }

  /** A trap. */
  class RuntimeError extends Error {}

  /** A module that is not valid. */
  class CompileError extends Error {}

  /** Imports that do not fit. */
  class LinkError extends Error {}

  function validate(bytes: Uint8Array<ArrayBuffer>): boolean
}
