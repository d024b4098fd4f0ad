/** What a View of a project consists of at one moment. */
import { createHash } from 'node:crypto'

/** Arguments of a lens; every value is a string. */
export type LensArguments = Readonly<Record<string, string>>

/** A lens whose module is kept by its hash. */
export interface KeptLens {
  readonly label: string
  /** Null for none. */
  readonly args: LensArguments | null
  /** SHA-256 of the module, 64 hex digits. */
  readonly sha256: string
  /** Size of the module. */
  readonly bytes: number
}

/** The content of a revision. */
export interface ViewContent {
  /** Null while there is none. */
  readonly query: string | null
  readonly sdl: string | null
  /** In the order in which documents pass them. */
  readonly lenses: readonly KeptLens[]
}

export const emptyContent: ViewContent = { query: null, sdl: null, lenses: [] }

/** Text that is equal for equal states. */
export function contentKey({ query, sdl, lenses }: ViewContent): string {
  return JSON.stringify([query, sdl, lensesKey(lenses)])
}

/** Text that is equal for equal lenses in equal order. */
export function lensesKey(lenses: readonly KeptLens[]): string {
  return JSON.stringify(
    lenses.map(({ label, args, sha256 }) => [label, argumentsText(args), sha256]),
  )
}

/** The arguments as they stand in the wire bytes; empty for none. */
export function argumentsText(args: LensArguments | null): string {
  return args === null ? '' : JSON.stringify(args)
}

/** 64 hex digits. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}
