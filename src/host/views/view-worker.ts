/** A thread of the lens process: reads the Host's store and computes blocks of Views. */

import { invariant } from '../../errors.ts'
import { createViewSelector } from '../../graphql/selection/view-selection.ts'
import { serveLensWorker } from '../../lens/child/serve-lens-worker.ts'
import { prepareProgram } from '../../lens/program/program.ts'
import { openReader } from '../../store/read/reader.ts'
import { parseRowType } from '../../views/row-type.ts'
import { hintsOf } from '../../views/view-hints.ts'
import { parseViewQuery } from '../../views/view-query.ts'
import { decodeView } from '../../views/wire.ts'
import { decodeHeights, encodeResult, type ViewWorkerData } from './block-job.ts'
import { computeBlocks, type LoadedView } from './view-blocks.ts'
import { wantedLogs } from './wanted-logs.ts'

/** Blocks are read once for each View, mostly the newest. */
const cacheBytes = 8 * 1024 * 1024

await serveLensWorker<ViewWorkerData, LoadedView>(({ storePath, network }) => {
  const reader = openReader({ path: storePath, writer: 'parent', cacheBytes })
  const selector = createViewSelector(network)
  return {
    load(definition) {
      const { query: text, sdl, lenses } = decodeView(definition)
      const rowType = parseRowType(sdl)
      const query = parseViewQuery(text, network)
      invariant(!('foreign' in query), 'Views of other chains have no rows')
      const selection = selector.compile(query)
      const wanted = wantedLogs(hintsOf({ lenses }, query), network)
      const wantedSelection = wanted === null ? null : selector.compile(wanted)
      return {
        rowType,
        program: prepareProgram(lenses, rowType.feed),
        async *documents(snapshot, height) {
          const heights = { from: height, to: height }
          const logs = wantedSelection?.documents(snapshot, heights)
          if (logs !== undefined && !(await hasAny(logs))) return
          for await (const batch of selection.documents(snapshot, heights))
            yield batch.map(({ text }) => text)
        },
      }
    },
    run: async (view, payload) =>
      encodeResult(await computeBlocks(view, reader, decodeHeights(payload))),
  }
})

async function hasAny(batches: AsyncIterable<readonly unknown[]>): Promise<boolean> {
  for await (const batch of batches) if (batch.length > 0) return true
  return false
}
