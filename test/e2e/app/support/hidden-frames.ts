/** What a Host sends that hides from applications that a block gave way: it goes on with the next, as if that stood on it. */
import type { HostFrame } from '../../../../src/follow/host-frames.ts'
import { decodeStatementExcerpt } from '../../../../src/row-votes/statement-excerpt.ts'

/** The first block of each height of which it said anything. */
const said = new Map<number, string>()

/** The frame that is sent in the place of one; null for none. */
export function hiding(frame: HostFrame): HostFrame | null {
  switch (frame.kind) {
    case 'retract':
      return null
    case 'statement': {
      const { blockNumber, blockHash } = decodeStatementExcerpt(frame.excerpt)
      return isSaid(blockNumber, blockHash) ? frame : null
    }
    case 'rows':
    case 'failed': {
      const { number, hash, parent } = frame
      return isSaid(number, hash) ? { ...frame, parent: said.get(number - 1) ?? parent } : null
    }
    default:
      return frame
  }
}

function isSaid(number: number, hash: string): boolean {
  const first = said.get(number) ?? hash
  said.set(number, first)
  return first === hash
}
