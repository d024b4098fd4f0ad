/**
 * The place of one log by its index in the block. Log indexes rise with positions but may skip
 * numbers, so the log stands at or before the position of that number.
 */
import { fieldIndex } from '../primitives/collections.ts'
import { readField } from '../primitives/values.ts'
import { type BlockView, storedValues } from './block-view.ts'
import { type HeightCursor, intervalCursor } from './height-cursor.ts'
import { spanIn } from './section-span.ts'
import type { Span } from './span-set.ts'

const field = fieldIndex('Log', 'logIndex')

/** A cursor on the one height, narrowed to where the log can be. */
export function logCursor(height: number, logIndex: number, descending: boolean): HeightCursor {
  const { seek } = intervalCursor([[height, height]], descending)
  return {
    seek,
    spans(block, section) {
      const span = spanIn(block, 'Log', placeOf(block, logIndex), section)
      return span === 'whole' ? span : [span]
    },
  }
}

function placeOf(block: BlockView, logIndex: number): Span {
  const last = Math.min(logIndex, block.header.sections.Log - 1)
  if (last < 0) return [0, 0]
  const found = readField('Log', storedValues(block, 'Log', last), field)
  return found === logIndex ? [last, last + 1] : [0, last + 1]
}
