/** How long the reader takes for what it makes of a block. */
import { Histogram, type Registry } from 'prom-client'

/** The histogram of the time it takes to encode one block, in seconds. */
export function createEncodeSeconds(registry: Registry): Histogram<string> {
  return new Histogram({
    name: 'viewmesh_generator_encode_seconds',
    help: 'Seconds to make the documents, CIDs and stored form of one block.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
    registers: [registry],
  })
}
