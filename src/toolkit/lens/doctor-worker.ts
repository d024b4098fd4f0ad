/** A thread of the lens process in which a lens is examined: it runs nowhere else. */
import { createHash } from 'node:crypto'
import { invariant } from '../../errors.ts'
import { serveLensWorker } from '../../lens/child/serve-lens-worker.ts'
import { decodePayload, encodePayload } from '../../lens/json-payload.ts'
import { type CompiledLens, openInstance } from '../../lens/program/instance.ts'
import { compileLenses, prepareProgram } from '../../lens/program/program.ts'
import type { DoctorJob, DoctorLens, DoctorResults, GivenItem } from './doctor-job.ts'

interface LoadedLens {
  readonly wasm: Uint8Array
  readonly args: string
  readonly documents: readonly string[]
}

await serveLensWorker<null, LoadedLens>(() => ({
  load(definition) {
    const { wasm, args, documents }: DoctorLens = decodePayload(definition)
    return { wasm: Buffer.from(wasm, 'base64'), args, documents }
  },
  run: (lens, payload) => encodePayload(runJob(lens, decodePayload(payload))),
}))

function runJob(lens: LoadedLens, job: DoctorJob): DoctorResults[keyof DoctorResults] {
  switch (job.kind) {
    case 'open':
      return open(lens)
    case 'feed':
      return feedAll(lens, job.feed)
    case 'items':
      return feedItems(lens, job.items)
    case 'memory':
      return measure(lens, job.documents)
  }
}

function compile(lens: LoadedLens): CompiledLens {
  const [compiled] = compileLenses([lens])
  invariant(compiled !== undefined, 'one lens is compiled to one')
  return compiled
}

function open(lens: LoadedLens): DoctorResults['open'] {
  const compiled = compile(lens)
  let memoryBytes = 0
  const meter = {
    grew: (_place: number, bytes: number) => {
      memoryBytes += bytes
    },
  }
  openInstance(compiled, meter)
  const exports = WebAssembly.Module.exports(compiled.module)
  return { takesArguments: exports.some(({ name }) => name === 'set_param'), memoryBytes }
}

function feedAll(lens: LoadedLens, feed: 'stream' | 'single' | null): DoctorResults['feed'] {
  const program = prepareProgram([lens], feed)
  const hash = createHash('sha256')
  let outputs = 0
  program.run(lens.documents, (bytes) => {
    outputs += 1
    hash.update(`${bytes.length} `).update(bytes)
  })
  return { feed: program.feeds[0] ?? 'stream', hash: hash.digest('hex'), outputs }
}

function feedItems(lens: LoadedLens, items: readonly GivenItem[]): DoctorResults['items'] {
  const instance = openInstance(compile(lens), { grew: () => undefined })
  const [document = '{}'] = lens.documents
  let given = 0
  const next = (): number => {
    const item = items[given] ?? 'end'
    given += 1
    if (item === 'nil') return instance.writeNil()
    return item === 'end' ? instance.writeEnd() : instance.write(document)
  }
  return items.map(() => {
    const output = instance.transform(next)
    return typeof output === 'string' ? output : 'document'
  })
}

function measure(lens: LoadedLens, count: number): DoctorResults['memory'] {
  const { documents } = lens
  const many = Array.from(
    { length: count },
    (_, index) => documents[index % documents.length] ?? '',
  )
  const startedAt = performance.now()
  const { memoryBytes } = prepareProgram([lens], null).run(many, () => undefined)
  return { memoryBytes, ms: performance.now() - startedAt }
}
