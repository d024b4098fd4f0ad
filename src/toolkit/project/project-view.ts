/** A View of a project, as commands see it. */
import type { View } from '../../views/view.ts'
import type { LensArguments } from './view-content.ts'

/** A lens of a View in a project. */
export interface ProjectLens {
  readonly label: string
  readonly args: LensArguments | null
  readonly wasm: Uint8Array
  /** Its file, absolute. */
  readonly path: string
}

/** A View as its files are now. */
export interface ProjectView {
  readonly name: string
  /** What is in the files is this revision. */
  readonly revision: number
  /** Null while there is none. */
  readonly query: string | null
  readonly sdl: string | null
  readonly lenses: readonly ProjectLens[]
}

/** What a View is to consist of. */
export interface ViewDraft {
  readonly query: string | null
  readonly sdl: string | null
  /** `path` is a file of the project that holds the module already; without it one is made. */
  readonly lenses: readonly (Omit<ProjectLens, 'path'> & { readonly path?: string })[]
}

/** The bytes that are deployed. */
export interface ProjectWire {
  readonly revision: number
  readonly wire: Uint8Array
  readonly view: View
  /** Of its lenses, which the bytes do not have. */
  readonly labels: readonly string[]
}
