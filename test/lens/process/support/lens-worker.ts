/**
 * A worker of the lens process: the definition of a View is the module of its one lens, a payload the documents as a
 * JSON list of texts, a result the same with what the lens returned.
 */
import { serveLensWorker } from '../../../../src/lens/child/serve-lens-worker.ts'
import { prepareProgram } from '../../../../src/lens/program/program.ts'

await serveLensWorker((data: { readonly refuses?: boolean }) => {
  if (data.refuses === true) throw new Error('the worker does not want to')
  return {
    load: (definition) => prepareProgram([{ wasm: definition, args: '' }], null),
    run(program, payload) {
      const found: string[] = []
      program.run(JSON.parse(Buffer.from(payload).toString()), (document) => {
        found.push(Buffer.from(document).toString())
      })
      return Buffer.from(JSON.stringify(found))
    },
  }
})
