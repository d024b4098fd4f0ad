/** Gives documents to lenses in the thread of a test. */
import { type Program, prepareProgram } from '../../../src/lens/program/program.ts'

export const documents: readonly string[] = ['{"n":1}', '{"n":2}', '{"n":"ü"}']

/** What comes out, each with the index of its source. */
export function collect(
  program: Program,
  given: Iterable<string> = documents,
): [string, number | null][] {
  const found: [string, number | null][] = []
  program.run(given, (document, source) => {
    found.push([Buffer.from(document).toString(), source])
  })
  return found
}

/** A step of a View. */
export const lens = (wasm: Uint8Array, args = ''): { wasm: Uint8Array; args: string } => ({
  wasm,
  args,
})
/** One lens, fed as it wants to be. */
export const single = (wasm: Uint8Array, args = ''): Program =>
  prepareProgram([lens(wasm, args)], null)
