/**
 * Walks the chain over the blocks that may have rows of a condition, and yields the positions in each
 * that may match, in pieces small enough to let other requests run in between.
 */
import type { SeenBlocks } from '../../store/store.ts'
import type { Entity } from '../catalog/entity.ts'
import { type FilterCondition, isOfBlock } from '../filter/condition.ts'
import { type Matcher, toMatcher } from '../filter/predicate.ts'
import { type BlockView, openBlockView } from '../rows/block-view.ts'
import { rowAt } from '../rows/row.ts'
import { openAccessPath, seenBlocks, storedBounds } from './access-path.ts'
import type { HeightCursor } from './height-cursor.ts'
import type { Piece, Scan } from './piece.ts'
import type { Span } from './spans.ts'
import { streamedPieces } from './streamed-pieces.ts'

/** The direction of a walk. */
export interface Direction {
  readonly blocksDescending: boolean
  /** The order of the pieces of a block; `sort` keeps a block in one piece. */
  readonly within: 'ascending' | 'descending' | 'sort'
}

/** From the first row to the last. */
export const chainOrder: Direction = { blocksDescending: false, within: 'ascending' }

/** Positions in one piece. */
const pieceRows = 512

/**
 * The pieces of all blocks that may have matching rows. The caller yields the thread in between:
 * `if (budget.shouldYield()) await budget.yieldThread()`. Those of a View that is computed for the request have to be
 * waited for; they come in the order in which their rows are made, whatever the direction.
 */
export async function walk(
  scan: Scan,
  condition: FilterCondition,
  direction: Direction,
): Promise<Iterable<Piece | Promise<Piece>>> {
  const { entity } = scan
  const descending = direction.blocksDescending
  const { view } = entity
  if (view?.stream) return streamedPieces(scan, view, view.stream, condition)
  if (entity.isEmpty === true || condition.op === 'none') return []
  const cursor = await openAccessPath({ ...scan, descending }, entity, condition)
  const matcher = toMatcher(entity, condition)
  const isDecided = isOfBlock(condition)
  const toPieces = isDecided
    ? createChooser(entity, matcher)
    : createCutter(entity, matcher, direction, cursor)
  const comparisons = cursor.width + (isDecided ? matcher.comparisons : 0)
  return piecesOf(scan, blocksOf(scan, cursor, descending), comparisons, toPieces)
}

/** Blocks without pieces are yielded as a piece of no rows, as they take time as well. */
function* piecesOf(
  { session: { budget }, entity }: Scan,
  blocks: Iterable<BlockView>,
  comparisons: number,
  toPieces: (block: BlockView) => readonly Piece[],
): Generator<Piece> {
  for (const block of blocks) {
    budget.countDocuments(1, comparisons)
    const pieces = toPieces(block)
    if (pieces.length > 0 && isShown(entity, block)) yield* pieces
    else yield { block, span: noRows, matcher: null }
  }
}

/** Rows of a View of a block without enough attestations are left out, which the answer says. */
function isShown({ view }: Entity, block: BlockView): boolean {
  const { attested, missing } = block.session
  if (view === undefined || attested === null || attested.has(block)) return true
  missing?.leaveOut(view, block.height)
  return false
}

const noRows: Span = [0, 0]

/** Takes all rows of a block or none, where the condition is on the block itself. */
function createChooser(entity: Entity, { matches }: Matcher): (block: BlockView) => Piece[] {
  return (block) => {
    const rows = entity.rowsIn(block)
    if (rows === 0 || !matches(rowAt(block, 0))) return []
    return [{ block, span: [0, rows], matcher: null }]
  }
}

/** Cuts what the cursor names of a block into pieces. */
function createCutter(
  entity: Entity,
  matcher: Matcher,
  direction: Direction,
  cursor: HeightCursor,
): (block: BlockView) => Piece[] {
  return (block) => {
    const rows = entity.rowsIn(block)
    if (rows === 0) return []
    const spans = spansOf(cursor, block, entity, rows)
    return pieces(spans, direction).map((span) => ({ block, span, matcher }))
  }
}

function spansOf(
  cursor: HeightCursor,
  block: BlockView,
  entity: Entity,
  rows: number,
): readonly Span[] {
  const isOfSeals = entity.section === null && entity.view === undefined
  const spans = isOfSeals ? 'whole' : cursor.spans(block, entity.section)
  return spans === 'whole' ? [[0, rows]] : spans
}

function pieces(spans: readonly Span[], { within }: Direction): readonly Span[] {
  if (within === 'sort') {
    const [first, last] = [spans[0], spans.at(-1)]
    return first === undefined || last === undefined ? [] : [[first[0], last[1]]]
  }
  if (spans.length === 1 && isShort(spans[0])) return spans
  const cut = spans.flatMap(([start, end]) =>
    Array.from({ length: Math.ceil((end - start) / pieceRows) }, (_, index): Span => {
      const from = start + index * pieceRows
      return [from, Math.min(end, from + pieceRows)]
    }),
  )
  return within === 'descending' ? cut.reverse() : cut
}

const isShort = (span: Span | undefined): boolean =>
  span !== undefined && span[0] < span[1] && span[1] - span[0] <= pieceRows

/** The stored blocks at the cursor's heights. */
function* blocksOf(scan: Scan, cursor: HeightCursor, descending: boolean): Generator<BlockView> {
  const { session, window } = scan
  const seen = seenBlocks(session, scan.entity)
  const bounds = storedBounds({ blocks: seen, window })
  if (bounds === null) return
  const [low, high] = bounds
  const step = descending ? -1 : 1
  let height = cursor.seek(descending ? high : low)
  while (height !== null && height >= low && height <= high) {
    const block = openBlockView(session, seen, height)
    if (block !== undefined) yield block
    const next =
      block === undefined ? nextStored(seen, height, descending ? low : high) : height + step
    height = next === undefined ? null : cursor.seek(next)
  }
}

function nextStored(seen: SeenBlocks, from: number, to: number): number | undefined {
  const heights = seen.heights(Math.min(from, to), Math.max(from, to), from > to)
  for (const height of heights) return height
  return undefined
}
