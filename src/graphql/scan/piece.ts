/** What is walked over, and what of a block a walk yields. */
import type { HeightRanges } from '../../primitives/height-ranges.ts'
import type { Entity } from '../catalog/entity.ts'
import type { Matcher } from '../filter/predicate.ts'
import type { BlockView, Session } from '../rows/block-view.ts'
import type { Span } from './spans.ts'

/** Whose rows are walked over, and where. */
export interface Scan {
  readonly session: Session
  readonly entity: Entity
  /** The heights that count. */
  readonly window: HeightRanges
  /** Whether rows of a View are read with the documents that they were made of. */
  readonly withSource?: boolean
}

/** Positions of a block that may match. */
export interface Piece {
  readonly block: BlockView
  readonly span: Span
  /** Null when every row of the span matches. */
  readonly matcher: Matcher | null
}
