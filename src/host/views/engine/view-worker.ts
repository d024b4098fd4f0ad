/** A thread of the lens process: reads the Host's store and computes blocks of Views. */

import { createViewLoader, type LoadedView } from '../../../compute/loaded-view.ts'
import { serveLensWorker } from '../../../lens/child/serve-lens-worker.ts'
import { decodePayload } from '../../../lens/json-payload.ts'
import { openReader } from '../../../store/read/reader.ts'
import { encodeResult, type ViewWorkerData } from './block-job.ts'
import { computeBlocks } from './view-blocks.ts'

/** Blocks are read once for each View, mostly the newest: what is kept longer is only collected later. */
const cacheBytes = 512 * 1024

await serveLensWorker<ViewWorkerData, LoadedView>(({ storePath, network }) => {
  const reader = openReader({ path: storePath, writer: 'parent', cacheBytes })
  return {
    load: createViewLoader(network),
    run: async (view, payload) =>
      encodeResult(await computeBlocks(view, reader, decodePayload(payload))),
  }
})
