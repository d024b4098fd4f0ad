/** A thread of the lens process in which a View is tested: strangers' lenses run nowhere else. */

import { createViewLoader, type LoadedView } from '../../compute/loaded-view.ts'
import { serveLensWorker } from '../../lens/child/serve-lens-worker.ts'
import { decodePayload, encodePayload } from '../../lens/json-payload.ts'
import { openReader } from '../../store/read/reader.ts'
import { runTrialJob } from './block-trial.ts'
import type { TrialWorkerData } from './trial-job.ts'

await serveLensWorker<TrialWorkerData, LoadedView>(({ storePath, network }) => {
  const reader = openReader({ path: storePath, writer: 'parent' })
  return {
    load: createViewLoader(network),
    run: async (view, payload) =>
      encodePayload(await runTrialJob(view, reader, decodePayload(payload))),
  }
})
