/** What a View makes of a block, looked at field by field. Runs in the lens process alone. */
import { type LoadedView, readDocuments, runLenses } from '../../compute/loaded-view.ts'
import { invariant } from '../../errors.ts'
import type { StoreReader } from '../../store/store.ts'
import { toRow } from '../../views/rows/row-values.ts'
import { createRowPacker } from '../../views/rows/rows.ts'
import { createFieldCounts } from './field-counts.ts'
import type { TrialJob, TrialResults, TrialRow } from './trial-job.ts'

/** Rows of one block that are shown and compared; a job may return 32 MiB. */
const kept = { rows: 10_000, bytes: 8 * 1024 * 1024 } as const
/** Documents that are given to the lenses one by one. */
const maxAlone = 100

type Result = TrialResults[keyof TrialResults]

/** Does a job. What is wrong with the View is thrown. */
export async function runTrialJob(
  view: LoadedView,
  reader: StoreReader,
  job: TrialJob,
): Promise<Result> {
  if (job.kind === 'measure') return measure(view, reader, job)
  const documents = await documentsAt(view, reader, job.height)
  return job.kind === 'block' ? compute(view, documents, job) : compareAlone(view, documents)
}

async function documentsAt(
  view: LoadedView,
  reader: StoreReader,
  height: number,
): Promise<Uint8Array[]> {
  const snapshot = reader.snapshot()
  try {
    return await readDocuments(view, snapshot, height)
  } finally {
    snapshot.release()
  }
}

function compute(
  view: LoadedView,
  documents: readonly Uint8Array[],
  { height, maxRowBytes }: Extract<TrialJob, { kind: 'block' }>,
): TrialResults['block'] {
  const { rowType, program } = view
  // For its limits alone, which fail the block at a Host.
  const packer = createRowPacker(rowType)
  const counts = createFieldCounts(rowType)
  const rows: TrialRow[] = []
  const maxBytes = Math.min(kept.bytes, maxRowBytes)
  let [rowBytes, rowsLeftOut] = [0, 0]
  runLenses(view, documents, (output, source) => {
    packer.add(output, source)
    counts.add(output)
    const { values } = toRow(rowType, output)
    const fields = rowType.fields.map(({ name }, index) => [name, values[index] ?? null])
    const row: TrialRow = { _blockNumber: height, _source: source, ...Object.fromEntries(fields) }
    const size = Buffer.byteLength(JSON.stringify(row))
    const fits = rowsLeftOut === 0 && rows.length < kept.rows && rowBytes + size <= maxBytes
    if (fits) rows.push(row)
    if (fits) rowBytes += size
    else rowsLeftOut += 1
  })
  const { fields, unknown } = counts.finish()
  return {
    documents: documents.length,
    rows,
    rowBytes,
    rowsLeftOut,
    fields,
    unknown,
    feeds: program.feeds,
  }
}

/** Lenses that add up, or that go by what they have seen, make other rows of documents that come alone. */
function compareAlone(view: LoadedView, documents: readonly Uint8Array[]): TrialResults['alone'] {
  const chosen = documents.slice(0, maxAlone)
  if (chosen.length < 2) return { isSame: null }
  const together = outputsOf(view, chosen)
  const alone = chosen.flatMap((document) => outputsOf(view, [document]))
  return {
    isSame:
      together.length === alone.length && together.every((text, index) => text === alone[index]),
  }
}

function outputsOf(view: LoadedView, documents: readonly Uint8Array[]): string[] {
  const outputs: string[] = []
  runLenses(view, documents, (output) => void outputs.push(JSON.stringify(output)))
  return outputs
}

async function measure(
  view: LoadedView,
  reader: StoreReader,
  { heights, documents: count }: Extract<TrialJob, { kind: 'measure' }>,
): Promise<TrialResults['measure']> {
  const found: Uint8Array[] = []
  for (const height of heights) {
    if (found.length >= count) break
    found.push(...(await documentsAt(view, reader, height)))
  }
  invariant(found.length > 0, 'there is something to measure')
  const documents = Array.from({ length: count }, (_, index) => found[index % found.length] ?? '')
  const startedAt = performance.now()
  const { memoryBytes } = runLenses(view, documents, () => undefined)
  return { documents: count, ms: performance.now() - startedAt, memoryBytes }
}
