/** The types of the Solidity ABI (https://docs.soliditylang.org/en/latest/abi-spec.html), as a tree. */
import { Span } from '../sdk/span'

export const UINT: i32 = 0
export const INT: i32 = 1
export const ADDRESS: i32 = 2
export const BOOL: i32 = 3
export const FIXED_BYTES: i32 = 4
export const BYTES: i32 = 5
export const STRING: i32 = 6
export const ARRAY: i32 = 7
export const TUPLE: i32 = 8

/** How many elements an array has whose length is in the data. */
export const ANY: i32 = -1

export class AbiType {
  /** Of arrays. */
  element: AbiType | null = null
  /** Of tuples. */
  components: AbiParameter[] = []
  isDynamic: bool = false
  /** Bytes that it takes where it stands: those of an offset where it is dynamic. */
  headBytes: u32 = 32

  /** `size` is in bytes, of arrays the number of elements. */
  constructor(
    readonly kind: i32,
    readonly size: i32,
  ) {
    this.isDynamic = kind === BYTES || kind === STRING
  }

  /** True where a topic holds the value itself, and not its hash. */
  fitsTopic(): bool {
    return this.kind <= FIXED_BYTES
  }
}

/** A parameter of an event or a function, or a component of a tuple. */
export class AbiParameter {
  isIndexed: bool = false

  constructor(
    /** Without quotes; may be empty. */
    readonly name: Span,
    /** As the ABI writes it, as in `tuple[]`. */
    readonly typeText: Span,
    readonly type: AbiType,
    /** JSON of an argument up to its value. */
    readonly opening: Span,
  ) {}
}

/** An event or a function. */
export class AbiEntry {
  isAnonymous: bool = false
  /** How many parameters are in topics. */
  indexed: i32 = 0

  constructor(
    readonly parameters: AbiParameter[],
    /** keccak256 of the signature. */
    readonly hash: usize,
    /** JSON that names it, up to its arguments. */
    readonly opening: Span,
  ) {}
}
