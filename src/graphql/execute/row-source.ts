/**
 * `_source`: the documents that rows of a View were made of. Only their places are stored, so the query of the
 * View is run again over the block.
 */
import { mapYielding } from '../budget/yielding-loop.ts'
import type { ViewSource } from '../catalog/entity.ts'
import type { RowField, RowSelection } from '../plan/plan.ts'
import type { BlockView } from '../rows/block-view.ts'
import type { Row } from '../rows/row.ts'
import { viewSource } from '../rows/view-rows.ts'
import { streamedSource } from '../rows/view-stream.ts'
import { selectRows } from '../scan/select-rows.ts'
import { rowRequest } from './row-request.ts'
import { oncePerRun, type Run, scanOf } from './run.ts'

/** Renders rows, whatever they are of. */
type RenderRows = (
  run: Run,
  rows: readonly Row[],
  selection: RowSelection,
) => Promise<readonly string[]>

type SourceField = Extract<RowField, { type: 'source' }>

/** The documents of one block that rows were made of. */
interface Sources {
  readonly texts: ReadonlyMap<number, string>
  /** Places of those that no row has shown yet; each was counted when it was rendered. */
  readonly unshown: Set<number>
}

/** The documents that rows of a View were made of; several are often made of the same. */
export async function sourcesOf(
  run: Run,
  rows: readonly Row[],
  field: SourceField,
  render: RenderRows,
): Promise<readonly string[]> {
  if (field.view.stream !== null) return await streamedSources(run, rows, field)
  const { budget } = run.session
  const known = new Map<BlockView, Sources>()
  const readSources = async (block: BlockView): Promise<Sources> => {
    const ofBlock = rows.filter((one) => one.block === block)
    const places = ofBlock.flatMap((one) => viewSource(one, field.view) ?? [])
    const texts = await documentsAt(run, block.height, field, new Set(places), render)
    const sources = { texts, unshown: new Set(texts.keys()) }
    known.set(block, sources)
    return sources
  }
  return await mapYielding(budget, rows, async (row) => {
    const { texts, unshown } = known.get(row.block) ?? (await readSources(row.block))
    const place = viewSource(row, field.view) ?? noPlace
    const text = texts.get(place) ?? 'null'
    if (!unshown.delete(place)) budget.addBytes(text.length)
    return text
  })
}

/** Where a row stands that was made before the first document. */
const noPlace = -1

/** Rows that were computed for the request came with them. */
async function streamedSources(
  run: Run,
  rows: readonly Row[],
  { view }: SourceField,
): Promise<readonly string[]> {
  return await mapYielding(run.session.budget, rows, (row) => {
    const text = streamedSource(row, view.fields) ?? 'null'
    run.session.budget.addBytes(text.length)
    return text
  })
}

/** The documents at some places among those that a View reads of a block. */
async function documentsAt(
  run: Run,
  height: number,
  { view, list }: SourceField,
  places: ReadonlySet<number>,
  render: RenderRows,
): Promise<ReadonlyMap<number, string>> {
  if (list.type === 'groups' || places.size === 0) return new Map()
  const ofBlock = {
    ...run,
    variables: {},
    window: [[height, height]],
    known: knownOf(run, view),
  } as const
  const found = new Map<number, Row>()
  let place = 0
  for await (const rows of selectRows(scanOf(ofBlock, list.entity), rowRequest(ofBlock, list))) {
    for (const row of rows) {
      if (places.has(place)) found.set(place, row)
      place += 1
    }
    if (found.size === places.size) break
  }
  const texts = await render(ofBlock, [...found.values()], list.selection)
  return new Map([...found.keys()].map((key, index) => [key, texts[index] ?? 'null']))
}

/** What is worked out for the query of a View, apart from what is for the request, and once for all blocks. */
const knownOf: (run: Run, view: ViewSource) => Run['known'] = oncePerRun(() => [])
